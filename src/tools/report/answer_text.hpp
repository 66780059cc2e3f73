// An Answer as text for people, which fits the terminal: about as many lines as it has.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <string>
#include <vector>

#include "tools/report/answer.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/report/native/native_times.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// `scope` names the threads that are counted: "5 threads"; `run` the run, as it was found. With
// samples, a line below each function tells where in compiled code its own time went.
void write_answer(const Answer& answer, const Findings& findings, const RunFacts& facts,
                  const NativeTimes& native, const std::string& run, const std::string& scope,
                  const Terminal& terminal, Output& output);

// The head line of a report, then a line for each loss.
void write_head(const RunFacts& facts, const std::string& run, const std::string& scope,
                const Terminal& terminal, Output& output);

// A line of the tables: the numbers, then the marks of a tree, the name and, to the right, where
// it is, as far as there is room.
struct AnswerLine {
  std::string numbers;
  std::string glyphs;
  std::string name;
  std::string note;   // behind the name
  std::string place;  // FILE:LINE
  bool project = false;
};
std::string drawn(const AnswerLine& line, const Terminal& terminal);

// The file without its directory, and the line; empty: unknown.
std::string short_region_place(const Region& region);

}  // namespace timeloom::tools
