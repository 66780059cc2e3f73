// The counts and costs of a session, at its end or so far. Plain values.
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
  os::DirectoryId id{};  // its directory, if that is known
  std::string spool;     // of this process in it
  std::string instrumenter;
  std::uint64_t events = 0;
  std::uint64_t aggregated_events = 0;  // the part of `events` of which only call paths were kept
  bool profile = false;                 // only call paths were kept of all events
  std::uint64_t threads = 0;
  std::uint64_t tasks = 0;  // of threads, and greenlets, as separate tracks
  std::uint64_t bytes = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;
  bool at_limit = false;      // the size limit was reached; see record::Totals
  std::string window;         // as requested; empty: everything
  std::uint64_t windows = 0;  // number of times that it opened
  std::uint64_t unmatched_leaves = 0;
  std::uint64_t left_out_events = 0;     // see event_code.hpp; of this process
  std::uint64_t throttled = 0;           // functions not timed to the end, see budget.hpp
  std::optional<double> observed_share;  // of CPU time: instrumenter_pause.hpp; empty: all
  int error = 0;                         // errno value of the first failed write
  double wall_seconds = 0;
  ProcessCost cost;  // of measuring; its `event` is 0 where it could not be calibrated
  Shares overhead;   // zeros: not known
  std::uint64_t unknown_costs = 0;  // processes of the run that `overhead` does not include
};

// Fills in the recorder's counts. Tasks that share lanes count as tasks, not as lanes.
void add_totals(SessionResult& result, const record::Totals& totals);

}  // namespace timeloom::python
