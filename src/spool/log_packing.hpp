// Packs the segments that lie as they were recorded in finished files of a log with a size limit.
//
// Segments come into the log as they are where the drain falls behind. When it has nothing else to
// do, it writes a copy of such a file in which they are packed, one segment a step, and then
// exchanges the two: at every instant the log has all segments, under the same names of files. The
// copy lies beside the log as kLogCopyName, and takes at most half of the space of the file; where
// it would take more, the file stays as it is. Each file is exchanged at most once. Files that the
// run has dropped meanwhile stay dropped.
//
// Thread safety: add() and has_work() may be called from any thread; everything else by the drain,
// or while there is none. Nothing throws.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/known_directory.hpp"
#include "os/call_filters.hpp"
#include "os/file.hpp"
#include "spool/early_packing.hpp"

namespace timeloom::spool {

class LogPacking {
 public:
  explicit LogPacking(const KnownDirectory& directory) noexcept : directory_(directory) {}

  // From now on the work ends where the program forbids itself calls of the system (seccomp): the
  // steps make some that a filter may end the process for. REQUIRES: before the first step.
  void watch_filters() noexcept { filters_.watch(); }
  // A finished file of the log has segments that are not packed. No effect after stop().
  void add(std::uint32_t number) noexcept;
  bool has_work() const noexcept { return files_left_.load(std::memory_order_relaxed) > 0; }

  // The records that a step has packed in the log, and the bytes that they take now.
  struct Gain {
    std::uint64_t records = 0, stored = 0;
    bool has_space() const noexcept { return records > 0; }
  };
  // Packs one segment more. There is a gain when a file is complete. `count`: as in
  // EarlyPacking::pack().
  Gain step(EarlyPacking& packing, bool count) noexcept;
  // Drops the copy of a file that is not complete, and all work.
  void stop() noexcept;
  // In the child of a fork: closes the file, which belongs to the parent.
  void abandon() noexcept { copy_.close(); }

 private:
  bool begin(const os::Directory& directory);
  bool copy_segment(const os::File& log, EarlyPacking& packing, bool count);
  bool read_segment(const os::File& log);
  std::span<const std::byte> packed(EarlyPacking& packing, bool count) noexcept;
  Gain end(const os::Directory& directory, const os::File& log) noexcept;
  void give_up() noexcept;
  void drop_work() noexcept;

  const KnownDirectory& directory_;
  os::CallFilters filters_;
  std::mutex mutex_;  // guards the next two
  std::vector<std::uint32_t> files_;
  bool off_ = false;
  std::atomic<std::size_t> files_left_ = 0;  // with the one that is being copied
  std::optional<std::uint32_t> number_;      // of that one
  os::File copy_;
  std::uint64_t read_ = 0, size_ = 0;  // bytes of the file
  std::uint64_t written_ = 0;          // bytes of the copy
  Gain gain_;
  std::vector<std::uint64_t> segment_;  // head and records, packed or not
};

}  // namespace timeloom::spool
