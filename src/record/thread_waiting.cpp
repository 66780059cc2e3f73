// The slow path of ThreadRecorder that measures waiting. The fast path goes on up to horizon_
// ticks after the base, which lies one gap after the event that was looked at last: so no
// gap can be passed over, and no event costs more than before.
#include <algorithm>
#include <new>

#include "record/measurement.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::record {

void ThreadRecorder::watch_waiting(MetricId metric, std::uintptr_t thread) noexcept {
  waiting_.reset(new (std::nothrow) WaitingClock(static_cast<pthread_t>(thread)));
  if (waiting_ != nullptr) waiting_->note_in(writer_->clock_watch(), location_);
  waiting_metric_ = metric.value();
  move_horizon(os::now());
}

// The time of the last record.
std::uint64_t ThreadRecorder::last_time(std::uint64_t now) const noexcept {
  if (profile_ != nullptr) return profile_->last_time();
  if (segment_ == nullptr) return now;
  if (cursor_ == other_end_) return other_time_;
  if (cursor_ == segment_->words()) return base_;
  return base_ + delta_of(cursor_[-1]);
}

std::uint64_t ThreadRecorder::waited_until(std::uint64_t now) noexcept {
  if (waiting_ == nullptr) return 0;
  const std::uint64_t last = last_time(now);
  return now > last && now - last > waiting_->gap() ? waiting_->waited(now - last, now) : 0;
}

void ThreadRecorder::move_horizon(std::uint64_t now) noexcept {
  const std::uint64_t passed = now - std::min(now, base_);
  if (waiting_ == nullptr) {
    horizon_ = profile_ != nullptr ? UINT64_MAX : kMaxDelta;
  } else if (profile_ != nullptr) {
    horizon_ = passed + waiting_->gap();
  } else {
    horizon_ = std::min(kMaxDelta, passed + waiting_->gap());
  }
}

// Profile mode: between two events, at most once in a gap. A profile takes no new space at which
// callbacks could be timed, so they are timed at every 64th look, the first one included.
void ThreadRecorder::aggregate_waiting(std::uint64_t now) noexcept {
  constexpr std::uint32_t kLooks = 64;
  if (looks_++ % kLooks == 0) note_new_space();
  constexpr std::uint64_t kLeastLooked = 2'000'000;  // nanoseconds: shorter ones are hardly seen
  const std::uint64_t last = last_time(now);
  if (const std::uint64_t waited = waited_until(now)) {
    profile_->wait(waiting_metric_, waited);
    if (waited >= kLeastLooked) {
      writer_->clock_watch().waits().add_gap(location_, last, now,
                                             {profile_->waiting_place(), waited});
    }
  }
  move_horizon(now);
}

// There is room for it.
void ThreadRecorder::put_waiting(std::uint64_t waited, std::uint64_t now) noexcept {
  if (waited == 0) return;
  put_extended(ExtendedKind::kWaiting, {&waited, 1}, now);
  ++extra_words_;  // no event
}

}  // namespace timeloom::record
