// The file memory.timeloom of a run: the call paths of each process with their memory, and the
// births and deaths of its blocks, which tell for each instant who held how much.
// docs/formats/memory.md describes its bytes.
//
//   magic | call paths of a process | its blocks | call paths of a process | its blocks | ... | end
//
// Plain values, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packing/varint.hpp"

namespace timeloom::memory_file {

// Of a parent or a region: there is none.
inline constexpr std::uint32_t kNone = UINT32_MAX;

// Bytes, and the blocks from which they are estimated, or of which they are the sum.
struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t least = 0;  // the bytes for which the smallest of the sampled blocks counts
  friend bool operator==(const Amount&, const Amount&) = default;
};

struct Path {
  std::uint32_t parent = kNone;  // number of a path before this one
  std::uint32_t region = kNone;  // its number in the run; none: outside all regions
  bool own = false;              // the measurement itself
  Amount allocated, at_peak, at_end;
  friend bool operator==(const Path&, const Path&) = default;
};

// The birth of a block, or its death.
struct Block {
  std::uint64_t time_ns = 0;  // since the start of the run
  bool death = false;
  std::uint64_t number = 0;  // of a birth: of its path; of a death: of its birth among the blocks
  std::uint64_t bytes = 0;   // of a birth: for which it counts; of a death: 0
  std::uint64_t live = 0;    // bytes that the process holds from then on
  friend bool operator==(const Block&, const Block&) = default;
};

struct Process {
  std::uint32_t group = 0;     // its number among the groups of locations
  std::uint64_t interval = 0;  // mean bytes between two sampled ones
  bool exact = false;          // the amounts at the peak and at the end are exact
  bool each = false;           // each block has its birth and its death
  std::uint64_t start_ns = 0;  // since the start of the run: it holds bytes from then on
  std::uint64_t live_at_start = 0;
  std::vector<Path> paths;
};

// The bytes: sections of packing/section_file.hpp.

inline constexpr std::uint64_t kMagic = 0x31594d454d4d4c54;  // "TLMMEMY1"

// The number in the head is the group of the process; the detail counts paths or blocks.
enum SectionKind : std::uint32_t { kPaths = 1, kBlocks = 2 };

// The streams of the bodies; all are varints.
enum PathStream : std::uint8_t { kProcess, kPlaces, kAllocated, kAtPeak, kAtEnd };
enum BlockStream : std::uint8_t { kTimes, kNumbers, kBytes, kLive };

inline constexpr std::uint64_t kMostPaths = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 23;

}  // namespace timeloom::memory_file
