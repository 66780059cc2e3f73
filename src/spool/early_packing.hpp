// Packs full segments in the drain, while the program runs.
//
// A segment is copied, so that a thread of the program that needs it meanwhile can move it to the
// log as it is, and packed from the copy. The memory, about 1.5 MB for segments of 256 KB, is taken
// when the first segment is packed, and kept. Used by the drain's thread only; nothing throws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "os/file.hpp"
#include "spool/packed_segment.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {

// When full segments are packed while the program runs (--pack-early).
enum class PackEarly : std::uint8_t {
  kNever,
  kAsNeeded,  // in a run with a size limit, on a disk that fills, and in a log above 1 GiB
  kAlways,
};

// Such a log is large; nobody asks for packing before.
inline constexpr std::uint64_t kLargeLog = std::uint64_t{1} << 30;

// Whether so little of a disk is free that it will soon be full: less than a tenth, and less than 4
// GiB; or less than 256 MiB, which a program fills within seconds.
constexpr bool is_filling(std::uint64_t free, std::uint64_t all) noexcept {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  if (all == 0) return false;  // a file system that does not tell
  return free < 256 * kMiB || (free < all / 10 && free < 4096 * kMiB);
}

// `limited`: the run has a size limit.
constexpr bool packs_from_start(PackEarly when, bool limited) noexcept {
  return when == PackEarly::kAlways || (when == PackEarly::kAsNeeded && limited);
}

class EarlyPacking {
 public:
  // `limited`: as in packs_from_start().
  EarlyPacking(PackEarly when, bool limited) noexcept
      : wanted_(packs_from_start(when, limited)), as_needed_(when == PackEarly::kAsNeeded) {}

  // Whether the next segment is to be packed. `log`: the file that it will be in; `written`: the
  // bytes of records that the process has written to its log so far.
  bool is_wanted(const os::File& log, std::uint64_t written) noexcept;
  // Copies a full segment. False: there is no memory; nothing is packed any more.
  bool copy(const SegmentHeader& header, const std::uint64_t* words) noexcept;
  // The copied segment as it is written to the log, with its head. Empty: it stays as it is.
  // `count`: the head is to have the number of events.
  std::span<const std::byte> pack(bool count) noexcept;

 private:
  struct Memory {
    std::vector<EventWord> words;
    packing::Bytes bytes;
    SegmentPacker packer;
  };

  bool wanted_;
  bool as_needed_;
  std::uint64_t next_look_ = 0;  // at the disk
  PackedHeader header_{};        // of the copy
  std::unique_ptr<Memory> memory_;
};

}  // namespace timeloom::spool
