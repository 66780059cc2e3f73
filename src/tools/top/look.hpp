// `timeloom top`: what a running program did between two looks at its run, as text and as JSON.
//
// Plain values made from the CallTree of a run so far; used by one thread. write_*() throw Error as
// Output does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/report/findings/finding.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

// Seconds since the start of the run.
struct Amount {
  double working = 0;
  double waiting = 0;
  std::int64_t visits = 0;
};

struct Look {
  RunFacts facts;
  double length = 0;                        // of the run, in seconds
  std::map<std::string, Amount> functions;  // by name
  std::map<std::string, std::string> places;
  std::map<std::string, Amount> threads;  // by the names of process and thread
  Findings findings;                      // about the whole run so far
};

Look look_at(const profile::CallTree& tree, const Terminal& terminal);

// A function or a thread between two looks, and since the start.
struct TopRow {
  std::string name;
  std::string place;
  Amount now;
  Amount all;
};

// The rows in the order of work between the looks, then of work since the start.
std::vector<TopRow> rows_between(const std::map<std::string, Amount>& before,
                                 const std::map<std::string, Amount>& after);

// The lines of one look, as many as the terminal is high. `before`: the look before; for the first
// look an empty one.
void write_look(const Look& before, const Look& after, const Terminal& terminal, Output& output);
// One line.
void write_look_json(const Look& before, const Look& after, const std::string& run, Output& output);

}  // namespace timeloom::tools
