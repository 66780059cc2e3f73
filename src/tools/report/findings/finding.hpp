// A finding: a sentence above the tables of a report about the likely cause of lost time, with its
// evidence and the command that shows more. docs/findings.md has the rules, with their thresholds.
//
// Plain values. Rules are pure functions of a FoundIn, which refers to values that must outlive it;
// they throw only std::bad_alloc. A rule adds any number of findings; find() ranks them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/report/answer.hpp"
#include "tools/report/findings/call_paths.hpp"
#include "tools/report/findings/worker_times.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct Finding {
  std::string rule;     // the name in docs/findings.md
  std::string text;     // one sentence, with numbers
  std::string command;  // the words after "timeloom "
  double seconds = 0;   // wall time that is at stake: findings are ranked by it
  std::vector<std::pair<std::string, double>> evidence{};  // for --json
};

struct FoundIn {
  const profile::CallTree& tree;
  const Answer& answer;
  const CallPaths& paths;
  const std::vector<WorkerTimes>& locations;
  const std::vector<std::vector<Worker>>& teams;  // see worker_times.hpp
  double wall = 0;                                // seconds
  const Terminal& terminal;
};

using Findings = std::vector<Finding>;

void find_imbalance(const FoundIn& run, Findings& findings);
void find_serial_end(const FoundIn& run, Findings& findings);
void find_repeated_imports(const FoundIn& run, Findings& findings);
void find_deadlocks(const FoundIn& run, Findings& findings);
// False: the run has not recorded its locks (--locks).
bool find_recorded_convoys(const FoundIn& run, Findings& findings);
void find_convoys(const FoundIn& run, Findings& findings);
void find_gil_waits(const FoundIn& run, Findings& findings);
void find_turns(const FoundIn& run, Findings& findings);
void find_held_loops(const FoundIn& run, Findings& findings);
void find_small_tasks(const FoundIn& run, Findings& findings);
void find_small_transfers(const FoundIn& run, Findings& findings);
void find_too_many_threads(const FoundIn& run, Findings& findings);
void find_growing_calls(const FoundIn& run, Findings& findings);
void find_suspended_tasks(const FoundIn& run, Findings& findings);
void find_tiny_calls(const FoundIn& run, Findings& findings);
void find_collections(const FoundIn& run, Findings& findings);
void find_growing_memory(const FoundIn& run, Findings& findings);
void find_scattered_memory(const FoundIn& run, Findings& findings);

// The one with the most time at stake first. Left out are findings with 1 % of the wall time at
// stake or less (or, if that is less, 5 % of the work, at least 0.1 s), but for those without a
// time.
Findings find(const profile::CallTree& tree, const Answer& answer,
              const profile::LocationFilter& filter, double wall, const Terminal& terminal);

}  // namespace timeloom::tools
