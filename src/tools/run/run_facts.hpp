// The facts about a run in a headline, taken from its definitions.
//
// A plain value. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu_times.hpp"
#include "core/definitions.hpp"
#include "core/memory/resident_peak.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct RunFacts {
  std::string program;                 // of the first process, with its arguments; empty: unknown
  std::string host;                    // of the first process; empty: unknown
  std::optional<std::uint64_t> start;  // nanoseconds since 1970
  double wall_seconds = 0;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::uint64_t tasks = 0;
  std::uint64_t task_lanes = 0;  // locations of tasks and lanes; 0: each task has its own
  bool has_tasks() const { return tasks > 0 || task_lanes > 0; }
  std::uint64_t events = 0;
  std::string samples;                 // "sampled: 2,310 every 1 ms"; empty: calls were recorded
  std::string engine;                  // its workers and tasks, in words; empty: none
  std::vector<std::string> throttled;  // functions not timed to the end, with their places
  std::vector<std::string> truncated;  // regions whose visits ended with a throttled one, the same
  bool was_paused = false;             // functions were not seen all the time
  std::string gpu;                     // shares of the wall time; empty: no GPU was recorded
  std::optional<std::uint64_t> memory_peak;  // bytes; none: memory was not recorded
  ResidentPeak resident;                     // of the process with the most; zeros: not known
  std::optional<double> observed_share;      // of the CPU time; none: all of it, or not known
  CpuTimes cpu;                              // of all processes; zeros: not known
  NativeThreadsByName native_threads;        // they take a part of cpu.other
  bool windowed = false;  // only a part was recorded: threads of Python may be among these
  // Of cpu, in recorded threads that were in no region; 0: not known. A report of the whole run
  // sets it.
  std::uint64_t outside_cpu = 0;
  std::vector<std::string> losses;  // lost and cut-off parts, one sentence each
};

RunFacts facts_of(const Definitions& definitions);

// The part of cpu.other that no known thread has: threads that ended before anybody looked at them.
std::uint64_t unseen_cpu(const RunFacts& facts) noexcept;

// The CPU time outside of the recorded regions: "native threads: 12, 1.90 s of CPU time (31.2% of
// all): OpenBLAS 1.80 s", "0.10 s of CPU time (1.6% of all) in threads that ended unseen", "0.10 s
// of CPU time (3.1% of all) of recorded threads outside of functions"; none: not known, or too
// little.
std::vector<std::string> other_cpu_lines(const RunFacts& facts, const Terminal& terminal);

// "5 threads in 2 processes"; `threads` alone, if there is one process.
std::string in_processes(std::string threads, const RunFacts& facts);

// "peak 45.2 MB" of the recorded allocations, else "peak RSS 45.2 MB", and of several processes
// "largest RSS 45.2 MB", the peak of one of them; empty: nothing is known.
std::string memory_text(const RunFacts& facts);
// "the peak of 7.61 GB is 95.1% of the limit of its control group"; none: it is far below.
std::vector<std::string> memory_limit_lines(const RunFacts& facts);

double seconds(std::uint64_t ticks, const Definitions& definitions);

// Each name once, also when its values are of several types.
std::vector<std::string> parameter_names(const Definitions& definitions);

// The name of a location for people; a number tells apart threads of one name.
std::string location_name(const Location& location);

// " of app.py", to follow the name of a thread: its process, where the run has several; else empty.
std::string of_process(const Definitions& definitions, std::uint64_t group);

}  // namespace timeloom::tools
