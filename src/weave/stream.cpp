#include "weave/stream.hpp"

#include <algorithm>

namespace timeloom::weave {

// Ids and time; false when the event refers to something without a definition.
bool Stream::translate(Event& event) {
  // Counters of two cores may differ by a few ticks around the first event.
  last_ = event.time = std::max(clock_.to_time(ticks(event.time)), last_);
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave: event.ref = ids_.regions[event.ref]; return event.ref != IdMap::kNone;
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
bool Stream::leave(const Event& event, std::vector<Event>& extra) {
  if (!waits_.empty()) end_waits(event.time);
  if (!open_.empty() && open_.back() == event.ref) [[likely]] {
    open_.pop_back();
    return true;
  }
  const auto found = std::find(open_.rbegin(), open_.rend(), event.ref);
  if (found == open_.rend()) return false;
  while (open_.back() != event.ref) {
    extra.push_back({event.time, EventKind::kLeave, open_.back(), 0});
    open_.pop_back();
    ++closed_;
  }
  open_.pop_back();
  return true;
}

void Stream::translate(std::vector<Event>& batch) {
  output_.clear();
  output_.reserve(batch.size());
  for (Event& event : batch) {
    bool keep = translate(event);
    if (keep && event.kind == EventKind::kEnter) open_.push_back(event.ref);
    if (keep && event.kind == EventKind::kLeave) keep = leave(event, output_);
    if (keep) {
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
