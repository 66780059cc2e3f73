// The file `memory` of a spool: allocations of the process by call path, and the life of sampled
// blocks. docs/formats/spool.md describes its bytes for other readers.
//
// The process writes to a shared mapping, so the file is complete at every instant but for one
// record per thread. It has four parts: the header, a table of call paths, the bytes that each of
// them holds where all blocks are known, and a log of blocks. A part that is not in use yet is a
// hole.
//
// Plain values and pure functions, for any thread.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace timeloom::spool {

inline constexpr char kMemoryName[] = "memory";
inline constexpr std::uint64_t kMemoryMagic = 0x3153'5953'4d4c'5401;  // "\x01TLMSYS1"
inline constexpr std::uint16_t kMemoryVersion = 2;

inline constexpr std::uint64_t kMemoryPaths = std::uint64_t{1} << 17;  // at most
inline constexpr std::uint64_t kMemoryBlocks = std::uint64_t{1} << 23;
inline constexpr std::uint64_t kMemoryPathsAt = 4096;  // offsets in the file

using MemoryCount = std::atomic<std::uint64_t>;
static_assert(MemoryCount::is_always_lock_free && sizeof(MemoryCount) == 8);

// Written at the start, but for the counts.
struct MemoryHeader {
  std::uint64_t magic;
  std::uint16_t version;
  std::uint16_t forked;    // 1: in the child of a fork, whose pages were its parent's at the start
  std::uint32_t check;     // checksum() of the 12 bytes before
  std::uint64_t interval;  // mean number of bytes between two sampled ones
  std::uint64_t start;     // ticks
  std::uint64_t live_at_start;

  MemoryCount paths;   // in use
  MemoryCount blocks;  // the same of the log
  MemoryCount live;    // bytes that the process holds
  MemoryCount peak;    // the most of it
  MemoryCount peak_ticks;
  MemoryCount peak_blocks;  // the length of the log then
  MemoryCount end;          // ticks; 0: the process was ended before it could finish
  MemoryCount lost_paths;   // allocations whose call path has no place in the table
  MemoryCount lost_blocks;  // sampled blocks without a place in the log
  MemoryCount foreign;      // 1: the program has an allocator of its own that is not seen
  MemoryCount all;          // 1: the owner of each block is known, so holdings are in use; 2: and
                            // each block has its birth and death in the log
  MemoryCount peak_number;  // counts the peaks, each higher than the one before
  MemoryCount resident;     // bytes in memory at the end; 0: not known, or there was none
};
static_assert(sizeof(MemoryHeader) == 144 && sizeof(MemoryHeader) <= kMemoryPathsAt);

inline constexpr std::uint64_t kMemoryAllBlocks = 1;  // values of `all`
inline constexpr std::uint64_t kMemoryEachBlock = 2;

// In the place of the region of a call path.
inline constexpr std::uint32_t kMemoryThread = UINT32_MAX;  // a thread, outside all regions
// Blocks of Python's own allocators, which lie in memory that is counted as well: allocations and
// frees in the call path before it, with sizes as asked for; frees have no sizes.
inline constexpr std::uint32_t kMemoryPython = UINT32_MAX - 1;
inline constexpr std::uint32_t kMemoryOwn = 0;        // paths: the measurement itself
inline constexpr std::uint32_t kMemoryElsewhere = 1;  // allocations without a known call path
inline constexpr std::uint32_t kFirstMemoryPath = 2;

struct MemoryPath {
  std::uint32_t parent;    // a path before this one; of a thread: 0
  std::uint32_t region;    // of the process
  std::uint32_t location;  // of the thread
  std::uint32_t reserved;
  MemoryCount allocations;
  MemoryCount allocated;  // bytes, as the allocator has rounded them
  MemoryCount frees;      // by this call path, whoever has allocated
  MemoryCount freed;
  MemoryCount largest;  // allocation
  MemoryCount highest;  // of the bytes that the process held right after an allocation
};
static_assert(sizeof(MemoryPath) == 64);

// The bytes of a call path that are not freed yet, if `all` is set. What it held at the peak is
// noted at its first change after that, so a new peak costs nothing: see at_peak().
struct MemoryHolding {
  std::uint64_t bytes;
  std::uint64_t blocks;
  std::uint64_t peak_number;  // at the last change; the peak for which the next two are
  std::uint64_t peak_bytes;
  std::uint64_t peak_blocks;

  // What it held at the peak of this number, the last one.
  std::pair<std::uint64_t, std::uint64_t> at_peak(std::uint64_t number) const noexcept {
    return peak_number == number ? std::pair(peak_bytes, peak_blocks) : std::pair(bytes, blocks);
  }
  // Before a change.
  void keep_peak(std::uint64_t number) noexcept {
    if (peak_number == number) return;
    peak_bytes = bytes, peak_blocks = blocks, peak_number = number;
  }
};
static_assert(sizeof(MemoryHolding) == 40);

// The birth of a sampled block, or its death.
struct MemoryBlock {
  static constexpr std::uint64_t kDeath = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kWhole = std::uint64_t{1} << 62;  // of a birth: it is not a sample

  std::uint64_t ticks;
  std::uint64_t what;   // of a birth: its path; of a death: the number of the birth in the log
  std::uint64_t bytes;  // of the block
  std::uint64_t live;   // bytes that the process holds

  constexpr bool is_death() const noexcept { return (what & kDeath) != 0; }
  constexpr bool is_whole() const noexcept { return (what & kWhole) != 0; }
  constexpr std::uint64_t number() const noexcept { return what & ~(kDeath | kWhole); }
};
static_assert(sizeof(MemoryBlock) == 32);

inline constexpr std::uint64_t kMemoryHoldingsAt =
    kMemoryPathsAt + kMemoryPaths * sizeof(MemoryPath);
inline constexpr std::uint64_t kMemoryBlocksAt =
    kMemoryHoldingsAt + kMemoryPaths * sizeof(MemoryHolding);
inline constexpr std::uint64_t kMemoryFileSize =
    kMemoryBlocksAt + kMemoryBlocks * sizeof(MemoryBlock);

// The chance that a block is sampled. Each byte is sampled with a chance of 1 in `interval`, and a
// block is sampled if at least one of its bytes is.
inline double sampling_chance(std::uint64_t bytes, std::uint64_t interval) noexcept {
  return -std::expm1(-static_cast<double>(bytes) / static_cast<double>(interval));
}

}  // namespace timeloom::spool
