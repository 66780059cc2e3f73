#include "preload/openmp/ompt_thread.hpp"

#include <new>
#include <utility>

#include "record/measurement.hpp"
#include "record/region_state.hpp"

namespace timeloom::ompt {

using record::WrapperScope;

namespace {

// A pointer, so that the library takes little of the room that the dynamic linker has for
// thread-local variables.
constinit thread_local ThreadState* t_thread [[gnu::tls_model("initial-exec")]] = nullptr;

}  // namespace

ThreadState* ThreadState::of_this_thread() noexcept {
  if (t_thread == nullptr) [[unlikely]]
    t_thread = new (std::nothrow) ThreadState;
  return t_thread;
}

void ThreadState::forget_this_thread() noexcept {
  delete t_thread;
  t_thread = nullptr;
}

void ThreadState::push(const Entry& entry) noexcept {
  if (count_ < kRoom) entries_[count_] = entry;
  ++count_;
}

const Entry* ThreadState::top() const noexcept {
  return count_ == 0 || count_ > kRoom ? nullptr : &entries_[count_ - 1];
}

const Entry* ThreadState::member() const noexcept {
  for (const Entry* one = kept_end(); one-- != entries_;) {
    if (one->kind == Open::kMember) return one;
  }
  return nullptr;
}

const Entry* ThreadState::running() const noexcept {
  for (const Entry* one = kept_end(); one-- != entries_;) {
    if (one->kind == Open::kMember) return nullptr;
    if (one->kind == Open::kTask) return one;
  }
  return nullptr;
}

const Entry* ThreadState::find(Open kind, std::uint64_t number) const noexcept {
  for (const Entry* one = kept_end(); one-- != entries_;) {
    if (one->kind == kind && one->number == number) return one;
  }
  return nullptr;
}

const Entry* ThreadState::find(Open kind, Construct construct) const noexcept {
  for (const Entry* one = kept_end(); one-- != entries_;) {
    if (one->kind == kind && one->construct == construct) return one;
    if (one->kind == Open::kMember || one->kind == Open::kTask) return nullptr;
  }
  return nullptr;
}

const Entry* ThreadState::shared_work() const noexcept {
  for (const Entry* one = kept_end(); one-- != entries_;) {
    if (is_shared_work(one->kind, one->construct)) return one;
    if (one->kind == Open::kMember || one->kind == Open::kTask) return nullptr;
  }
  return nullptr;
}

// A region of another measurement is not open in this one.
void ThreadState::leave_regions(const Entry* from, WrapperScope& scope) const noexcept {
  for (const Entry* one = kept_end(); one-- != from;) {
    if (one->region != nullptr && one->measurement == from->measurement) scope.leave(*one->region);
  }
}

void ThreadState::end_late(std::shared_ptr<const std::atomic<std::uint64_t>> time) noexcept {
  const Entry* const team = member();
  const Entry* const barrier = top();
  if (team == nullptr || barrier == nullptr || team->region == nullptr ||
      barrier->region == nullptr || barrier->measurement != team->measurement) {
    return;
  }
  WrapperScope scope(record::kAgain, team->measurement);
  if (!scope.wanted() || !record::recording()) return;
  const auto word = [&](const Entry& entry) {
    return record::known_word(entry.region->state, team->measurement);
  };
  scope.end_late({std::move(time), {word(*barrier), word(*team)}, team->number});
  entries_[count_ - 1].late = true;
}

void ThreadState::settle(const Entry* barrier) noexcept {
  {
    WrapperScope scope(record::kAgain, barrier->measurement);
    if (scope.wanted()) scope.settle();
  }
  Entry& team = entries_[member() - entries_];
  team.region = nullptr;
  team.measurement = 0;
  forget(barrier);
}

void ThreadState::forget(const Entry* from) noexcept {
  count_ = static_cast<std::size_t>(from - entries_);
}

}  // namespace timeloom::ompt
