// The event path: what runs at each enter and leave of a region.
//
// An event is one word of eight bytes, stored where the cursor is; a leave closes what its thread
// entered last. Nothing here takes a lock, allocates or throws. All rare cases are found by the
// comparisons below, three in an enter and three in a leave, and are out of line: they belong to
// ThreadRecorder, of which this is the part that an event touches, on a cache line of its own.
//
// Used by its own thread; see thread_recorder.hpp.
#pragma once

#include <cstdint>

#include "core/event_word.hpp"
#include "os/clock.hpp"
#include "record/open_stack.hpp"

namespace timeloom::record {

class alignas(64) EventPath {
 public:
  // Records that the region of `enter` is entered at `now`.
  void enter(Token token, EventWord enter, std::uint64_t now = os::now()) noexcept {
    if (!enter_at_once(token, enter, now)) [[unlikely]]
      enter_slow(token, enter, now - base_);
  }
  // The same where nothing but the event is to be stored; otherwise false, and nothing is done.
  bool enter_at_once(Token token, EventWord enter, std::uint64_t now) noexcept {
    const std::uint64_t delta = now - base_;
    OpenRegion* const top = top_;
    if (cursor_ >= limit_ || top >= stack_end_ || delta > horizon_) [[unlikely]]
      return false;
    put(at(enter, delta));
    // Two stores, from which the loads of a leave that follows at once are served.
    __atomic_store_n(&top[1].token, token, __ATOMIC_RELAXED);
    __atomic_store_n(&top[1].enter, enter, __ATOMIC_RELAXED);
    top_ = top + 1;
    return true;
  }

  // The stack pointer of the function of compiled code that was entered last.
  void set_frame(const void* frame) noexcept { top_->frame = frame; }

  // Records the leave of the innermost open region at `now`; false, and nothing is recorded,
  // when its token is not `token`.
  bool leave_last(Token token, std::uint64_t now = os::now()) noexcept {
    if (top_->token != token) [[unlikely]]
      return false;
    if (!leave_at_once(token, now)) [[unlikely]]
      leave_slow(now - base_);
    return true;
  }
  // The same where nothing but the event is to be stored; otherwise false, and nothing is done.
  bool leave_at_once(Token token, std::uint64_t now) noexcept {
    const std::uint64_t delta = now - base_;
    OpenRegion* const top = top_;
    if (top->token != token || cursor_ >= limit_ || delta > horizon_) [[unlikely]]
      return false;
    put(at(top->enter, delta) ^ kEnterLeaveFlip);
    top_ = top - 1;
    return true;
  }

  // The innermost open region; 0: none.
  Token innermost() const noexcept { return top_->token; }
  // Whether the innermost one is `inner`, not 0, and the one around it `outer`.
  bool innermost_are(Token inner, Token outer) const noexcept {
    return top_->token == inner && top_[-1].token == outer;
  }
  // The innermost region that is recorded, of `levels` at most; UINT32_MAX: none. Also for a
  // handler of a signal that interrupts the thread anywhere, even where the stack moves.
  std::uint32_t innermost_region(int levels) const noexcept {
    const OpenRegion* region = innermost_entry();
    for (; levels > 0 && region->token != 0; --levels, --region) {
      if (is_recorded_entry(*region)) return static_cast<std::uint32_t>(payload_of(region->enter));
    }
    return UINT32_MAX;
  }
  // The innermost entry of the stack, for such a handler: the others lie before it, down to one
  // whose token is 0.
  const OpenRegion* innermost_entry() const noexcept {
    return __atomic_load_n(&top_, __ATOMIC_RELAXED);
  }
  // Whether it was entered without being recorded.
  bool innermost_unrecorded() const noexcept { return (top_->token & kUnrecorded) != 0; }

 protected:
  constexpr explicit EventPath(OpenRegion* top) noexcept : top_(top) {}

  void put(EventWord word) noexcept {
    // One store of eight bytes: a record is there or it is not.
    std::uint64_t* const cursor = cursor_;
    __atomic_store_n(cursor, word, __ATOMIC_RELAXED);
    cursor_ = cursor + 1;
  }

  std::uint64_t* cursor_ = nullptr;    // next word
  std::uint64_t* limit_ = nullptr;     // where the fast path ends: the end, or nowhere with metrics
  std::uint64_t base_ = 0;             // ticks that deltas count from
  std::uint64_t horizon_ = kMaxDelta;  // the fast path ends after as many; see thread_waiting.cpp
  OpenRegion* top_;                    // last entry in use
  OpenRegion* stack_end_ = nullptr;    // last entry that enter() may use

 private:
  // ThreadRecorder's, which alone derives from this. They take the ticks since base_, so that the
  // event path need not keep the time itself.
  [[gnu::noinline]] void enter_slow(Token token, EventWord enter, std::uint64_t delta) noexcept;
  [[gnu::noinline]] void leave_slow(std::uint64_t delta) noexcept;
};

}  // namespace timeloom::record
