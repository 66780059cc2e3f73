// The file `memory` of the running measurement's spool (spool/memory_format.hpp), as the wrapper of
// memory writes it.
//
// Functions may be called inside an allocation: they allocate nothing and throw nothing, but for
// open() and the destructor. Any thread may count; other functions need the caller's lock. errno
// may change.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "os/file.hpp"
#include "spool/memory_format.hpp"

namespace timeloom::record {

class MemoryFile {
 public:
  using PathId = std::uint32_t;
  static constexpr PathId kOwn = spool::kMemoryOwn;
  static constexpr PathId kElsewhere = spool::kMemoryElsewhere;
  static constexpr std::uint64_t kNone = spool::kMemoryBlocks;
  // In the place of a region: Python's own allocators, inside the path before.
  static constexpr std::uint32_t kPython = spool::kMemoryPython;

  // nullptr: no measurement runs (`error` is 0), or there is no space for the file. `forked`: in
  // the child of a fork whose parent had such a file.
  static std::unique_ptr<MemoryFile> open(std::uint64_t interval, bool forked, int& error) noexcept;
  // Before the first count: the owner of each block will be known. False: there is no space.
  // `log_each`: each block will have its birth and death in the log.
  bool hold_all(bool log_each) noexcept;
  bool holds_all() const noexcept { return header_->all.load(std::memory_order_relaxed) != 0; }
  bool logs_each() const noexcept {
    return header_->all.load(std::memory_order_relaxed) == spool::kMemoryEachBlock;
  }
  // Before the first count: the process holds as many bytes now, with the object itself.
  void start(std::uint64_t live) noexcept;

  // With the caller's lock: new call paths; kElsewhere where there is no space.
  PathId add_thread(std::uint32_t location) noexcept;
  PathId add_path(PathId parent, std::uint32_t region) noexcept;

  // A path of a thread is counted by this thread alone.
  void count_allocation(PathId path, std::uint64_t bytes) noexcept {
    spool::MemoryPath& to = paths_[path];
    add(path, to.allocations, 1);
    add(path, to.allocated, bytes);
    if (bytes > to.largest.load(std::memory_order_relaxed)) [[unlikely]]
      to.largest.store(bytes, std::memory_order_relaxed);
  }
  void count_free(PathId path, std::uint64_t bytes) noexcept {
    spool::MemoryPath& to = paths_[path];
    add(path, to.frees, 1);
    add(path, to.freed, bytes);
  }
  // The process holds as many bytes right after an allocation of the path.
  void count_live(PathId path, std::uint64_t live) noexcept {
    spool::MemoryCount& highest = paths_[path].highest;
    if (is_more(live, highest.load(std::memory_order_relaxed))) [[unlikely]]
      highest.store(live, std::memory_order_relaxed);
    count_live(live);
  }
  // The process holds as many bytes now.
  void count_live(std::uint64_t live) noexcept {
    if (is_more(live, header_->peak.load(std::memory_order_relaxed))) [[unlikely]]
      note_peak(live);
  }

  // With the caller's lock: the process holds as many bytes now, more or less than before.
  void note_live(std::uint64_t live) noexcept {
    header_->live.store(live, std::memory_order_relaxed);
    count_live(live);
  }

  // With the caller's lock, where all blocks are held: a path has a block more, or less.
  void hold(PathId path, std::uint64_t bytes) noexcept { change_holding(path, bytes, 1); }
  void release(PathId path, std::uint64_t bytes) noexcept {
    change_holding(path, 0 - bytes, UINT64_MAX);
  }

  // With the caller's lock: the number of a block in the log; kNone where there is no space for its
  // birth and its death. `whole`: it stands for itself alone.
  std::uint64_t add_birth(PathId path, std::uint64_t bytes, std::uint64_t live,
                          bool whole) noexcept;
  void add_death(std::uint64_t birth, std::uint64_t bytes, std::uint64_t live) noexcept;

  void count_lost_path() noexcept { header_->lost_paths.fetch_add(1); }
  void count_lost_block() noexcept { header_->lost_blocks.fetch_add(1); }
  void note_foreign_allocator() noexcept { header_->foreign.store(1); }
  // With the caller's lock: nothing is added any more. Counts may still come.
  void end(std::uint64_t live) noexcept;

 private:
  // The log is mapped by parts: a program may have little address space.
  static constexpr std::uint64_t kPartBlocks = std::uint64_t{1} << 19;

  MemoryFile(os::File file, os::Mapping mapping) noexcept;
  static void add(PathId path, spool::MemoryCount& count, std::uint64_t value) noexcept {
    if (path < spool::kFirstMemoryPath) {
      count.fetch_add(value, std::memory_order_relaxed);
    } else {
      count.store(count.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    }
  }
  void change_holding(PathId path, std::uint64_t bytes, std::uint64_t blocks) noexcept {
    spool::MemoryHolding& to = holdings_[path];
    to.keep_peak(header_->peak_number.load(std::memory_order_relaxed));
    to.bytes += bytes;
    to.blocks += blocks;
  }
  PathId add(PathId parent, std::uint32_t region, std::uint32_t location) noexcept;
  // The number of blocks in the log. REQUIRES: there is space for one more.
  std::uint64_t append(const spool::MemoryBlock& block) noexcept;
  // Bytes that a process holds are below zero, modulo 2^64, after more frees than allocations were
  // seen: of blocks that came from an allocator of the program's own.
  static bool is_more(std::uint64_t live, std::uint64_t than) noexcept {
    return static_cast<std::int64_t>(live) > static_cast<std::int64_t>(than);
  }
  void note_peak(std::uint64_t live) noexcept;
  // Allocates space in the file up to `end`, of which `allocated` exists. False: there is none.
  bool make_space(std::uint64_t& allocated, std::uint64_t end, std::uint64_t step) noexcept;
  // The same for so many blocks of the log.
  bool make_log_space(std::uint64_t blocks) noexcept;

  os::File file_;
  os::Mapping mapping_;
  spool::MemoryHeader* header_;
  spool::MemoryPath* paths_;
  spool::MemoryHolding* holdings_;
  std::array<os::Mapping, spool::kMemoryBlocks / kPartBlocks> log_;
  std::uint64_t paths_end_;  // allocated so far, as offsets in the file
  std::uint64_t holdings_end_;
  std::uint64_t log_space_ = 0;  // the same, in blocks
  std::uint64_t alive_ = 0;      // births without a death, for which there is space
};

}  // namespace timeloom::record
