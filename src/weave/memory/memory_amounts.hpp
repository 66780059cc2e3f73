// The memory of one process, from its records to the run: what each call path has allocated and
// freed, what it held at the peak and at the end.
//
// Plain values; used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.hpp"
#include "core/memory/memory_facts.hpp"
#include "profile/call_tree.hpp"
#include "spool/memory_reader.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

// A call path with the run's ids.
struct MemoryOfPath {
  LocationId location;
  std::size_t parent = 0;  // its number among all paths, before this one
  RegionId region;         // undefined: outside all regions
  profile::MetricStatistics allocated, freed, at_peak, at_end, temporary;
  profile::MetricStatistics heap{};  // held by the process, at allocations
  profile::MetricStatistics python_allocated{}, python_freed{};
};

// For how many bytes a sampled block counts. `interval`: mean bytes between two sampled ones.
double bytes_of(const spool::MemoryBlock& birth, std::uint64_t interval);

// By path, the sums of the sampled blocks that are still held after the first `length` records. A
// block counts with the bytes that it stands for.
std::vector<profile::MetricStatistics> held_after(const spool::MemoryData& data,
                                                  std::uint64_t length);

// The same for blocks that were freed within a millisecond.
std::vector<profile::MetricStatistics> temporary_blocks(const spool::MemoryData& data,
                                                        const ProcessClock& clock);

// Adds the values of the memory metrics to the tree. If a path is not in the tree, its values are
// added to the longest part of it that is there.
void add_memory(profile::CallTree& tree, const std::vector<MemoryOfPath>& paths);

// The most that processes held together, and when, in nanoseconds since the start of the run.
class CommonPeak {
 public:
  // From `time` on the process holds `live` bytes.
  void add(std::uint64_t time, std::size_t process, std::uint64_t live);
  ProcessMemory find();

 private:
  struct Step {
    std::uint64_t time;
    std::size_t process;
    std::uint64_t live;
  };
  std::vector<Step> steps_;
};

}  // namespace timeloom::weave
