// The facts of a run about the memory of its processes. The amounts of call paths are values of
// metrics in its profile; the amounts of a process as a whole are a property of the run.
//
// Plain values and pure functions, for any thread. A property may come from anybody: a malformed
// number counts as 0. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom {

// Metrics of call paths, in bytes. Their number of values is the number of allocations and frees
// for the first two, and of sampled blocks for the others.
inline constexpr char kBytesAllocated[] = "allocation_size";  // the names of Score-P
inline constexpr char kBytesFreed[] = "deallocation_size";
inline constexpr char kBytesHeld[] = "bytes_leaked";  // at the end
// The largest value: the most that the process held right after an allocation of the call path.
inline constexpr char kMaximumHeap[] = "maximum_heap_memory_allocated";
inline constexpr char kBytesAtPeak[] = "bytes_at_peak";
inline constexpr char kBytesTemporary[] = "bytes_temporary";  // freed within 1 ms

// The same for Python's own allocators, whose blocks lie in memory that the other metrics count:
// the requested sizes. Frees have no sizes.
inline constexpr char kPythonAllocated[] = "python_allocation_size";
inline constexpr char kPythonFreed[] = "python_deallocations";

inline constexpr std::uint64_t kEachBlock = 2;

struct ProcessMemory {
  std::uint64_t interval = 0;  // mean bytes between two sampled ones
  std::uint64_t at_start = 0;  // held, in bytes
  std::uint64_t at_end = 0;
  std::uint64_t peak = 0;
  std::uint64_t peak_time = 0;  // nanoseconds since the start of the run
  // Amounts that belong to no call path. The held bytes are estimated from `blocks_at_peak` and
  // `blocks_at_end` sampled blocks.
  struct Apart {
    std::uint64_t allocations = 0, allocated = 0;
    std::uint64_t frees = 0, freed = 0;
    std::uint64_t at_peak = 0, blocks_at_peak = 0;
    std::uint64_t at_end = 0, blocks_at_end = 0;
  };
  Apart own;                  // by the measurement itself, and beside the program
  Apart other;                // outside all regions, and by threads that record nothing
  std::uint64_t lost = 0;     // call paths and blocks without a place
  std::uint64_t foreign = 0;  // 1: the program has an allocator of its own that is not seen
  std::uint64_t ended = 0;    // 1: in order
  // 1: the owner of each block is known, so held bytes are exact. The process held these bytes
  // besides the ones of its call paths: blocks from before the measurement.
  std::uint64_t all = 0;  // kEachBlock: the life of each, too
  std::uint64_t before_at_peak = 0;
  std::uint64_t before_at_end = 0;
  std::uint64_t resident_at_end = 0;  // bytes in memory; 0: not known
};

// The growth of a process whose memory only grows (docs/findings.md has the conditions); for a run,
// the largest growth of its processes.
struct MemoryGrowth {
  std::uint64_t process = 0;  // its number among the groups of locations
  std::uint64_t from = 0;     // bytes held
  std::uint64_t to = 0;
  std::uint64_t time = 0;       // nanoseconds between both
  std::uint64_t of_region = 0;  // bytes by which `region` has grown: an estimate
  std::string region;           // the name of the one that has grown most
};
inline constexpr char kMemoryGrowth[] = "timeloom::memory_growth";

std::string to_text(const MemoryGrowth& growth);
// Zeros: the text is malformed.
MemoryGrowth memory_growth(std::string_view text);

// The name of the property, by the number of the process.
std::string memory_property(std::size_t group);
// The property with the most that all processes held together, and when, in the same form; with one
// process, its own amounts.
inline constexpr char kRunMemory[] = "timeloom::memory";

std::string to_text(const ProcessMemory& memory);
ProcessMemory process_memory(std::string_view text);

// The error of an amount that is estimated from sampled blocks, one standard deviation: an upper
// bound. `least`: the estimate for the smallest of these blocks.
double sampling_error(double blocks, double least, double interval) noexcept;

}  // namespace timeloom
