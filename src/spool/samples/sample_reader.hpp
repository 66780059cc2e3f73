// Reads the file `samples` of a spool, even if the process was killed or still runs: each chunk up
// to its first record that is not complete.
//
// A function without state, for any thread; the result is a plain value.
#pragma once

#include <cstdint>
#include <vector>

#include "spool/samples/sample_writer.hpp"
#include "spool/spool_directory.hpp"

namespace timeloom::spool {

struct ThreadSample : Sample {
  std::uint32_t location = 0;
  bool has_stack = false;
  // Its stack: the first `shared` frames of the thread's stack before it, then `count` elements of
  // SampleData::frames, from `first` on.
  std::uint32_t shared = 0;
  std::uint32_t count = 0;
  std::size_t first = 0;
};

struct SampleData {
  std::vector<ThreadSample> samples;  // of each thread in order of time
  std::vector<std::uint32_t> frames;  // ids of regions in the process
  std::uint64_t period_ns = 0;        // 0: the process was not sampled
  std::uint64_t lost = 0;
  std::uint64_t threads = 0;
  std::uint64_t timers = 0;        // of these threads: sampled by a timer
  std::uint64_t user_events = 0;   // by an event for user space, with a timer beside it
  std::uint64_t unsampled_ns = 0;  // CPU time of threads whose signals did not come
  std::uint64_t cut = 0;           // samples without the outermost functions of their stack
  int failure = 0;                 // errno of a thread that could not be sampled
  std::uint64_t bytes = 0;         // of the samples, with their stacks
  bool damaged = false;
};

// The samples of the spool; if they have stacks, one thread after the other.
SampleData read_samples(const SpoolDirectory& directory);

}  // namespace timeloom::spool
