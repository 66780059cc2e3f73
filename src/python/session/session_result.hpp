// The counts and costs of a session, when it ends or so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/known_directory.hpp"
#include "core/measuring_cost.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

struct SessionResult {
  std::string run;
  os::DirectoryId id{};  // what its directory is, if that is known
  std::string spool;     // of this process in it
  std::string instrumenter;
  std::uint64_t events = 0;
  std::uint64_t folded_events = 0;  // of these: only call paths have been kept of them
  bool profile = false;             // that is so of all
  std::uint64_t threads = 0;
  std::uint64_t tasks = 0;  // of threads, and greenlets, as tracks of their own
  std::uint64_t bytes = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;
  bool at_limit = false;      // of size; see record::Totals
  std::string window;         // what was asked for; empty: everything
  std::uint64_t windows = 0;  // how often it came
  std::uint64_t unmatched_leaves = 0;
  std::uint64_t left_out_events = 0;     // see event_code.hpp; of this process
  std::uint64_t given_up = 0;            // functions that are not timed to the end, see budget.hpp
  std::optional<double> observed_share;  // of the CPU time, see rest.hpp; none: all of it
  int error = 0;                         // errno value of the first failed write
  double wall_seconds = 0;
  ProcessCost cost;  // of measuring; its `event` is 0 where it could not be calibrated
  Shares overhead;   // zeros: not known
  std::uint64_t unknown_costs = 0;  // processes of the run that are not in it
};

// Fills in the counts of the recorder; where tasks share lanes, they count as tasks, not as lanes.
void add_totals(SessionResult& result, const record::Totals& totals);

}  // namespace timeloom::python
