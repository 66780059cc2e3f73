// `timeloom report --omp`: parallel regions of OpenMP, how evenly their threads work, how long they
// wait at the end, and how long all threads but one have nothing to do.
//
// Plain values made from a CallTree; used by one thread. write_*() throw Error as Output does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/openmp/teams_at_once.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// A parallel region, over all its call paths and processes.
struct ParallelRow {
  RegionId region;
  std::uint64_t calls = 0;    // on the threads that forked its teams
  double time = 0;            // seconds of these calls
  std::uint64_t threads = 0;  // of a team; the most, over call paths and processes
  std::uint64_t fewest = 0;   // ... and the fewest
  double working = 0;  // seconds of all threads outside of the region's barriers and taskwait
  double waiting = 0;  // ... in them
  // Seconds of the place in the team that works longest and of the average member, summed over
  // call paths and processes.
  double longest = 0;
  double mean = 0;
  double imbalance() const noexcept { return mean > 0 ? longest / mean : 1; }
};

struct OpenMpFacts {
  std::vector<ParallelRow> regions;  // by time, the longest first
  // Over the threads that fork teams: seconds in parallel regions, and outside of them.
  double parallel = 0;
  double serial = 0;
  double idle = 0;            // seconds that the other threads of their teams had nothing to do
  std::uint64_t threads = 0;  // of the largest team
  TeamsAtOnce at_once{};
  std::optional<std::uint64_t> cores;      // that a process may use; none: not known
  std::optional<std::string> num_threads;  // OMP_NUM_THREADS; none: not set, or not known
  double serial_share() const noexcept {
    return parallel + serial > 0 ? serial / (parallel + serial) : 0;
  }
  bool oversubscribed() const noexcept { return cores && at_once.threads > *cores; }
};

OpenMpFacts openmp_facts(const profile::CallTree& tree);

// Sentences about cores and OMP_NUM_THREADS, and the remedy if there are more threads than cores.
std::string openmp_advice(const OpenMpFacts& facts);

void write_openmp(const OpenMpFacts& facts, const Definitions& definitions,
                  const Terminal& terminal, Output& output);
void write_openmp_json(const OpenMpFacts& facts, const Definitions& definitions, Output& output);

}  // namespace timeloom::tools
