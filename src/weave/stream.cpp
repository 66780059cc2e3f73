#include "weave/stream.hpp"

#include <algorithm>

namespace timeloom::weave {

// Counters of two cores may differ by a few ticks around the first event.
Timestamp Stream::time_of(const Event& event) noexcept {
  return last_ = std::max(clock_.to_time(ticks(event.time)), last_);
}

// Ids and time; false when the event refers to something without a definition.
bool Stream::translate(Event& event) {
  event.time = time_of(event);
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave: return false;  // see pass()
    case EventKind::kParameterString:
      event.value = ids_.strings[static_cast<std::uint32_t>(event.value)];
      event.ref = ids_.parameters[event.ref];
      return event.ref != IdMap::kNone && event.value != IdMap::kNone;
    case EventKind::kParameterInt:
    case EventKind::kParameterUint:
    case EventKind::kParameterFloat:
      event.ref = ids_.parameters[event.ref];
      return event.ref != IdMap::kNone;
    case EventKind::kMetric: event.ref = ids_.metrics[event.ref]; return event.ref != IdMap::kNone;
    case EventKind::kRecordingOff:
    case EventKind::kRecordingOn:
    case EventKind::kProgramBegin:
    case EventKind::kProgramEnd: return true;
    case EventKind::kThreadCreate:
    case EventKind::kThreadBegin:
    case EventKind::kThreadEnd:
    case EventKind::kThreadWait: return thread_event(event);
    case EventKind::kRewindBegin:
    case EventKind::kRewindEnd: return true;
    case EventKind::kTrack:
    case EventKind::kTrackEnd: return false;  // not of one location
  }
  return false;
}

// False when the event is to come later, or never: a thread that could not be
// started has no number.
bool Stream::thread_event(Event& event) {
  if (!ids_.threads.ends.contains(event.value)) return false;
  if (event.kind == EventKind::kThreadWait) {
    waits_.push_back({open_.size(), event.value});
    return false;
  }
  event.value = ids_.threads.in_run(event.value);
  return true;
}

// The innermost region ends. What it waited for counts if that has ended; the
// wait may have had a time limit.
void Stream::end_waits(Timestamp time) {
  for (; !waits_.empty() && waits_.back().depth >= open_.size(); waits_.pop_back()) {
    const std::uint64_t number = waits_.back().number;
    const std::optional<Timestamp>& end = ids_.threads.ends.at(number);
    if (!end || time < *end) continue;
    output_.push_back({time, EventKind::kThreadWait, 0, ids_.threads.in_run(number)});
  }
}

// A leave closes what was entered last. Where records are missing it may close
// more, or match nothing.
bool Stream::leave(std::uint32_t region, Timestamp time) {
  if (!waits_.empty()) end_waits(time);
  if (!open_.empty() && open_.back() == region) [[likely]] {
    open_.pop_back();
    return true;
  }
  const auto found = std::find(open_.rbegin(), open_.rend(), region);
  if (found == open_.rend()) return false;
  while (open_.back() != region) {
    output_.push_back({time, EventKind::kLeave, open_.back(), 0});
    open_.pop_back();
    ++closed_;
  }
  open_.pop_back();
  return true;
}

// An enter or leave: nearly all there is. False when it is dropped.
inline bool Stream::pass(const Event& event) {
  const Timestamp time = time_of(event);
  const std::uint32_t region = ids_.regions[event.ref];
  if (region == IdMap::kNone) return false;
  if (event.kind == EventKind::kEnter) {
    open_.push_back(region);
  } else if (!leave(region, time)) {
    return false;
  }
  // Field by field: the processor waits for what it copies whole and was just written in parts.
  output_.emplace_back(time, event.kind, region, 0);
  return true;
}

void Stream::translate(std::vector<Event>& batch) {
  output_.clear();
  output_.reserve(batch.size());
  for (Event& event : batch) {
    if (event.kind <= EventKind::kLeave) {
      if (!pass(event)) ++dropped_;
    } else if (translate(event)) {
      output_.push_back(event);
    } else if (event.kind < EventKind::kThreadCreate) {
      ++dropped_;
    }
  }
  batch.swap(output_);
  rewinder_.pass(batch);
}

void Stream::close(Timestamp end, std::vector<Event>& batch) {
  batch = rewinder_.take();
  const Timestamp time = std::max(end, last_);
  for (; !open_.empty(); open_.pop_back()) {
    batch.push_back({time, EventKind::kLeave, open_.back(), 0});
    ++closed_;
  }
  last_ = time;
}

}  // namespace timeloom::weave
