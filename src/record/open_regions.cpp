// The regions that are open on a thread: the part of its recorder that is not on the event
// path.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "os/own_stack.hpp"
#include "record/measurement.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::record {
namespace {

constexpr std::size_t kFirstStackSize = 40;  // a kilobyte

constinit std::atomic<void (*)() noexcept> g_on_noted_leave = nullptr;

bool is_unrecorded(const OpenRegion& region) noexcept { return (region.token & kUnrecorded) != 0; }

}  // namespace

OpenStack::~OpenStack() {
  if (base != &bottom) std::free(base);
}

bool ThreadRecorder::push(OpenRegion region) noexcept {
  const std::size_t depth = this->depth();
  if (depth + 1 >= stack_->size) {
    const std::size_t size = stack_->size == 0 ? kFirstStackSize : stack_->size * 2;
    const KeepOff of_allocation;  // the program's own may be compiled code that is recorded
    OpenRegion* const old = stack_->base == &stack_->bottom ? nullptr : stack_->base;
    auto* base = static_cast<OpenRegion*>(std::malloc(size * sizeof(OpenRegion)));
    if (base == nullptr) return false;
    if (old == nullptr) base[0] = {};
    if (old != nullptr) std::copy(old, old + depth + 1, base);
    stack_->base = base;
    stack_->size = size;
    stack_->top = base + depth;
    use(*stack_);
    // Not before: a handler that samples the thread may read the stack in between.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::free(old);
  }
  *++top_ = region;
  return true;
}

// Leaves everything down to and including `entry`.
void ThreadRecorder::pop_to(OpenRegion* entry) noexcept {
  while (top_ >= entry) {
    const OpenRegion region = *top_--;
    if ((region.token & kUnrecorded) == 0) append_slow(region.enter ^ kEnterLeaveFlip, os::now());
  }
}

// Leaves `entry` and the regions entered inside it. When a user region ends, the functions above it
// still run, and will leave.
void ThreadRecorder::close(OpenRegion* entry) noexcept {
  OpenRegion* const last = top_;
  const bool functions_run_on = is_user_region(entry->token);
  pop_to(entry);
  if (!functions_run_on) return;
  for (OpenRegion* above = entry + 1; above <= last; ++above) {
    if (is_function(above->token)) *++top_ = {above->token | kUnrecorded, above->enter};
  }
}

void ThreadRecorder::request_leave_callback() noexcept {
  // Nothing is open on the recorder of threads that have none, which they share.
  if (top_ != stack_->base && is_function(top_->token)) top_->token |= kLeaveRequested;
}

// Whose noted regions are told of once they are left.
void ThreadRecorder::close_requested(OpenRegion* entry) noexcept {
  std::size_t noted = 0;
  if (!is_user_region(entry->token)) {
    noted = static_cast<std::size_t>(std::count_if(entry, top_ + 1, [](const OpenRegion& region) {
      return is_function(region.token) && (region.token & kLeaveRequested) != 0;
    }));
  }
  close(entry);
  auto* const tell = g_on_noted_leave.load(std::memory_order_relaxed);
  for (; noted > 0 && tell != nullptr; --noted) tell();
}

bool ThreadRecorder::leave_outer(Token token) noexcept {
  if (!attached()) {
    ThreadRecorder* recorder = take_brought();
    return recorder != nullptr && recorder->leave(token);
  }
  for (OpenRegion* entry = top_; entry > stack_->base; --entry) {
    if (bare_token(entry->token) == bare_token(token)) return close_requested(entry), true;
  }
  return false;
}

bool ThreadRecorder::leave_own(Token token) noexcept {
  if (leave_last(token)) return true;
  for (OpenRegion* entry = top_; entry > stack_->base; --entry) {
    if (bare_token(entry->token) == bare_token(token)) return close(entry), true;
    if (is_function(entry->token) && (entry->token & kUnrecorded) == 0) break;
  }
  return false;
}

std::span<const std::byte> ThreadRecorder::stack_memory() noexcept {
  if (stack_memory_.empty()) {
    const KeepOff of_allocation;
    stack_memory_ = os::own_stack();
  }
  return stack_memory_;
}

// Of the functions of compiled code at the top, whose frames all lie above `low` and below `high`,
// the outermost one. nullptr: the innermost one lies elsewhere, or it is not known where. A
// function of Python may have been called by any other.
OpenRegion* ThreadRecorder::outermost_between(const void* low, const void* high) const noexcept {
  OpenRegion* outermost = nullptr;
  for (OpenRegion* one = top_; one > stack_->base && !is_function(one->token); --one) {
    if (!is_of_compiled_code(one->token)) continue;  // a region that one of them has entered
    if (one->frame <= low || one->frame >= high) break;
    outermost = one;
  }
  return outermost;
}

void ThreadRecorder::close_below(const void* frame, bool record) noexcept {
  const std::span<const std::byte> memory = stack_memory();
  const void* const end = memory.data() + memory.size();
  if (frame <= memory.data() || frame > end) return;
  OpenRegion* const outermost = outermost_between(memory.data(), frame);
  if (outermost == nullptr) return;
  record ? close_requested(outermost) : end_unrecorded(outermost);
}

// The same while recording is off.
void ThreadRecorder::end_unrecorded(OpenRegion* entry) noexcept {
  OpenRegion* const end = std::remove_if(entry, top_ + 1, is_unrecorded);
  for (OpenRegion* one = entry; one != end; ++one) one->token = kEndedUnseen;
  top_ = end - 1;
}

void ThreadRecorder::close_from(std::size_t index) noexcept { pop_to(stack_->base + 1 + index); }

// Where the time is not noted yet, the thread has passed the barrier all the same: it ends, or the
// measurement does.
void ThreadRecorder::settle() noexcept {
  if (late_.time == nullptr) return;
  const LateEnd late = std::exchange(late_, {});
  const std::uint64_t noted = late.time->load(std::memory_order_acquire);
  const std::uint64_t end = std::max(noted != 0 ? noted : os::now(), last_ticks());
  for (const EventWord region : late.regions) {
    const Token token = user_token(region);
    if (region != 0 && !leave_last(token, end)) leave_own(token);
  }
  extended(ExtendedKind::kTeamEnd, {&late.team, 1}, end);
}

void ThreadRecorder::enter_unrecorded(Token token) noexcept {
  ThreadRecorder* recorder = attached() ? this : attach_unrecorded();
  if (recorder != nullptr) recorder->push({token | kUnrecorded, 0});
}

void ThreadRecorder::enter_again(std::span<const OpenRegion> regions) noexcept {
  for (const OpenRegion& open : regions) {
    if (open.enter == kHidesCalls) {
      enter_hiding(open.token);
    } else if ((open.token & kUnrecorded) != 0 || open.token == kEndedUnseen) {
      enter_unrecorded(open.token);
    } else {
      define(RegionId{payload_of(open.enter)});  // a forked child has a measurement of its own
      enter(open.token, open.enter);
    }
    set_frame_of(bare_token(open.token), open.frame);
  }
}

void ThreadRecorder::leave_unrecorded(Token token) noexcept {
  for (OpenRegion* entry = top_; entry > stack_->base; --entry) {
    if (bare_token(entry->token) != token) continue;
    if ((entry->token & kUnrecorded) == 0) {
      entry->token = kEndedUnseen;
    } else if (std::all_of(entry, top_ + 1, is_unrecorded)) {
      top_ = entry - 1;
    } else {  // the regions entered inside are still to be left
      std::copy(entry + 1, top_ + 1, entry);
      --top_;
    }
    return;
  }
}

void ThreadRecorder::forget_unrecorded(Token token) noexcept {
  for (OpenRegion* entry = top_; entry > stack_->base; --entry) {
    if (entry->token != (token | kUnrecorded)) continue;
    std::copy(entry + 1, top_ + 1, entry);
    --top_;
    return;
  }
}

void ThreadRecorder::enter_hiding(Token token) noexcept {
  ThreadRecorder* recorder = attached() ? this : attach_unrecorded();
  if (recorder == nullptr || !recorder->push({token | kUnrecorded, kHidesCalls})) return;
  recorder->may_hide_ = true;
  recorder->use_again();
}

void ThreadRecorder::leave_hiding(Token token) noexcept {
  forget_unrecorded(token);
  if (may_hide_) use_again();
}

void ThreadRecorder::hide_functions(bool hide) noexcept {
  ThreadRecorder* recorder = attached() ? this : attach_unrecorded();
  if (recorder == nullptr) return;
  recorder->hides_all_ = hide;
  recorder->use_again();
}

void ThreadRecorder::look_for_hiding() noexcept {
  hidden_depth_ = hides_all_ ? 0 : SIZE_MAX;
  if (hides_all_ || !may_hide_) return;
  const auto hides = [](const OpenRegion& region) { return region.enter == kHidesCalls; };
  const OpenRegion* const found = std::find_if(stack_->base + 1, top_ + 1, hides);
  if (found <= top_) hidden_depth_ = static_cast<std::size_t>(found - stack_->base);
}

bool ThreadRecorder::is_hidden() const noexcept {
  if (depth() < hidden_depth_) return false;
  return hides_all_ || stack_->base[hidden_depth_].enter == kHidesCalls;
}

// The region that has hidden its calls may have been left: nothing is done then, so that this
// costs nothing but where it matters.
bool ThreadRecorder::records(Token token) noexcept {
  if (depth() >= hidden_depth_ && !is_hidden()) use_again();
  const bool may_be_hidden = !is_user_region(token) || (token & kOfCompiledCode) != 0;
  return depth() < record_depth_ && (!may_be_hidden || !is_hidden());
}

void set_leave_callback(void (*function)() noexcept) noexcept { g_on_noted_leave = function; }

}  // namespace timeloom::record
