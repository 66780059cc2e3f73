// Profile mode: folds the events of one thread into a tree of its call paths,
// which lies in a mapped file of the spool.
//
// Used by its own thread. An event costs a comparison with the child that was
// entered last, or else one look-up. Nothing here throws. What there is no space
// for is counted below the call path that entered it, in one node without a
// region; without even that it is lost, and counted.
#pragma once

#include <cstdint>
#include <memory>

#include "core/child_table.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {

class ThreadProfile {
 public:
  static constexpr std::uint32_t kMaxNodes = 500'000;

  // nullptr, with an errno value, when the file cannot be made.
  static std::unique_ptr<ThreadProfile> create(const std::string& spool, std::uint32_t location,
                                               std::uint64_t now, int* error) noexcept;

  void enter(std::uint32_t region, std::uint64_t now) noexcept {
    std::uint32_t child = file_->node(current_).last_child;
    if (child == 0 || file_->node(child).region != region || beyond_ != 0) [[unlikely]] {
      child = find_child(region);
      if (child == 0) return;  // counted as beyond
      file_->node(current_).last_child = child;
    }
    spool::ProfileNode& node = file_->node(child);
    node.entered = now;
    ++node.visits;
    current_ = child;
  }

  void leave(std::uint64_t now) noexcept {
    if (beyond_ != 0) [[unlikely]] {
      --beyond_;
      return;
    }
    spool::ProfileNode& node = file_->node(current_);
    const std::uint64_t ticks = now > node.entered ? now - node.entered : 0;
    node.entered = 0;
    node.ticks += ticks;
    if (ticks < node.shortest) node.shortest = ticks;
    if (ticks > node.longest) node.longest = ticks;
    file_->header().last.store(now, std::memory_order_relaxed);
    current_ = node.parent;
  }

  // Enters and leaves so far.
  std::uint64_t events() noexcept;
  std::uint64_t lost_events() const noexcept { return lost_; }
  std::uint64_t bytes() const noexcept;
  void abandon() noexcept { file_->abandon(); }

 private:
  [[gnu::noinline, gnu::cold]] std::uint32_t find_child(std::uint32_t region) noexcept;
  std::uint32_t add_child(std::uint32_t region) noexcept;

  std::unique_ptr<spool::ProfileWriter> file_;
  std::uint32_t current_ = 0;
  std::uint32_t beyond_ = 0;  // visits that are open inside a node without a region, or nowhere
  ChildTable children_;
  std::uint64_t lost_ = 0;
};

}  // namespace timeloom::record
