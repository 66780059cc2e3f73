// The file `locks` of the running measurement's spool (spool/locks/lock_format.hpp), as the process
// writes it.
//
// Its users share it, the last one unmaps it: a thread that ends late may still mark its entry.
// Only add(), text() and copy_names() need the caller's lock, here the GIL. Nothing throws but
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "os/file.hpp"
#include "spool/locks/lock_format.hpp"

namespace timeloom::record {

class LockFile {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // nullptr: no measurement runs, or there is no space for the file.
  static std::shared_ptr<LockFile> open();

  // The index of a new entry, all zero; kNone where there is no space.
  std::uint32_t add(spool::LockTable table) noexcept { return add(table, 1); }
  // The index of the first of some new entries, the same.
  std::uint32_t add(spool::LockTable table, std::uint64_t count) noexcept;
  // The offset of a new text; 0, the empty text, where there is no space.
  std::uint32_t text(std::string_view text) noexcept;

  spool::LockHeader& header() noexcept { return *header_; }
  spool::LockSite& site(std::uint32_t i) noexcept {
    return at<spool::LockSite>(spool::kLockSites, i);
  }
  spool::LockHold& hold(std::uint32_t i) noexcept {
    return at<spool::LockHold>(spool::kLockHolds, i);
  }
  spool::LockWait& wait(std::uint32_t i) noexcept {
    return at<spool::LockWait>(spool::kLockWaits, i);
  }
  spool::LockThread& thread(std::uint32_t i) noexcept {
    return at<spool::LockThread>(spool::kLockThreads, i);
  }
  spool::LockWanted& wanted(std::uint32_t i) noexcept {
    return at<spool::LockWanted>(spool::kLockWanted, i);
  }
  spool::LockCircle& circle(std::uint32_t i) noexcept {
    return at<spool::LockCircle>(spool::kLockCircles, i);
  }

  // Copies texts, and the sites and lines of another file without their counts: the file of the
  // parent, in the child of a fork. False: there is no space.
  bool copy_names(LockFile& other) noexcept;

 private:
  LockFile(os::File file, os::Mapping mapping) noexcept;
  template <typename Entry>
  Entry& at(spool::LockTable table, std::uint32_t i) noexcept {
    return reinterpret_cast<Entry*>(mapping_.data() + spool::kLockLayout[table].offset)[i];
  }
  bool make_space(spool::LockTable table, std::uint64_t entries) noexcept;

  os::File file_;
  os::Mapping mapping_;
  spool::LockHeader* header_;
  std::uint64_t space_[spool::kLockTables] = {};  // bytes that are allocated
};

}  // namespace timeloom::record
