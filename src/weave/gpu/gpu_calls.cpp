#include "weave/gpu/gpu_calls.hpp"

#include <algorithm>

namespace timeloom::weave {

void PendingGpuCalls::drop(Timestamp until) {
  const auto first = std::ranges::lower_bound(calls, until, {}, &GpuCall::start);
  calls = calls.subspan(static_cast<std::size_t>(first - calls.begin()));
}

void GpuStream::put(Event event) {
  event.time = last_ = std::max(event.time, last_);
  output_.push_back(event);
}

void GpuStream::enter(const GpuCall& call, std::span<const GpuFact> facts) {
  put({call.start, EventKind::kEnter, call.region, 0});
  for (const GpuFact& fact : facts.subspan(call.first_fact, call.facts)) {
    put({call.start, fact.kind, fact.ref, fact.value});
  }
  open_.push_back({call.region, call.end});
  entered_.push_back(last_);
}

void GpuStream::leave_call(Timestamp time) {
  put({time, EventKind::kLeave, open_.back().call_region, 0});
  const std::uint64_t ns = ticks(last_) - ticks(entered_.back());
  if (ns >= longest_ns_) {
    longest_ns_ = ns;
    longest_ = output_.size() - 1;
  }
  open_.pop_back();
  entered_.pop_back();
}

// Calls that start before `until`, and the ends of calls that are over by then.
void GpuStream::pass(PendingGpuCalls& pending, Timestamp until) {
  for (;;) {
    const GpuCall* const next = pending.calls.empty() ? nullptr : &pending.calls.front();
    const bool in_call = !open_.empty() && open_.back().call_region != GpuCall::kNone;
    if (in_call && open_.back().end <= until &&
        (next == nullptr || next->start >= open_.back().end)) {
      leave_call(open_.back().end);
    } else if (next != nullptr && next->start < until) {
      enter(*next, pending.facts);
      pending.calls = pending.calls.subspan(1);
    } else {
      return;
    }
  }
}

// Time in which a thread did not run belongs to the call that was open, if there was one.
void GpuStream::add_waiting(const Event& event) {
  if (longest_ == SIZE_MAX) return put(event);
  Event waiting = event;
  waiting.value = std::min(event.value, longest_ns_);
  waiting.time = output_[longest_].time;
  output_.insert(output_.begin() + static_cast<std::ptrdiff_t>(longest_), waiting);
  longest_ = SIZE_MAX;
}

void GpuStream::merge(PendingGpuCalls& pending, std::vector<Event>& batch) {
  if (pending.calls.empty() && open_.empty()) return;
  output_.clear();
  longest_ = SIZE_MAX;
  longest_ns_ = 0;
  for (const Event& event : batch) {
    pass(pending, event.time);
    if (event.kind == EventKind::kWaiting) {
      add_waiting(event);
      continue;
    }
    if (event.kind == EventKind::kEnter && !open_.empty()) {
      open_.push_back({GpuCall::kNone, {}});
    } else if (event.kind == EventKind::kLeave && !open_.empty()) {
      while (!open_.empty() && open_.back().call_region != GpuCall::kNone) leave_call(event.time);
      if (!open_.empty()) open_.pop_back();
    }
    put(event);
    longest_ = SIZE_MAX;
    longest_ns_ = 0;
  }
  batch.swap(output_);
}

void GpuStream::close(PendingGpuCalls& pending, Timestamp until, std::vector<Event>& batch) {
  output_.swap(batch);
  if (!output_.empty()) last_ = std::max(last_, output_.back().time);
  pass(pending, until);
  while (!open_.empty() && open_.back().call_region != GpuCall::kNone) leave_call(last_);
  output_.swap(batch);
}

}  // namespace timeloom::weave
