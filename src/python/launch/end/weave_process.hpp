// Weaves a run by `timeloom weave` in a process of its own, so that the measured
// process never loads OTF2. Needs the GIL, which it gives up while it waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/known_directory.hpp"

namespace timeloom::python {

enum class WeaveOutcome { kDone, kFailed, kNoProgram };

// The counts of a weave, over all processes of the run.
struct WovenCounts {
  std::uint64_t events, threads, tasks, processes, running, bytes, lost_events, older_events,
      aggregated_events, cpu_overhead, wall_overhead,  // overheads: millionths of the time
      least_cpu_overhead, most_cpu_overhead,
      unknown_costs;  // processes that the overheads do not include
};

struct WeaveResult {
  WeaveOutcome outcome = WeaveOutcome::kFailed;
  std::optional<WovenCounts> counts{};  // none: not done, or it has not printed them
  std::string printed{};                // tables that the user wants on standard output
  std::string engine{};                 // its workers and tasks, in words
  std::string throttled{};              // functions not timed to the end, in words
  std::string finding{};                // the sentence of the first one; empty: none
};

struct ChildWeave {
  bool keep_spool = false;
  bool silent = false;      // it prints nothing
  bool more_ranks = false;  // may still join the run
  os::DirectoryId run{};    // the identity of its directory
};

// The directory of this extension, beside which the program is installed; absolute. The package
// lies elsewhere in an editable installation.
std::string extension_directory();

// Waits for the end. `package`: extension_directory(), asked for before the program could change
// its directory; searched first for bin/timeloom, then the directory of scripts, then PATH. The
// child writes to our stderr; never to stdout. It waits for another weave of the run.
WeaveResult weave_in_child(const std::string& run, const std::string& package,
                           const ChildWeave& how);

// Converts the records of one rank in such a process, before the run is woven: see
// weave/ranks/rank_weave.hpp. A conversion that fails is left to the weave of the run. `spool`: of
// the rank, which is one of `ranks`. `keep_spool`: its records stay, in any case.
void convert_in_child(const std::string& spool, std::uint32_t ranks, const std::string& package,
                      const os::DirectoryId& run, bool keep_spool);

}  // namespace timeloom::python
