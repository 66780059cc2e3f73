#include "weave/event_translator.hpp"

#include <algorithm>

#include "core/io.hpp"

namespace timeloom::weave {

// Counters of two cores may differ by a few ticks around the first event.
Timestamp EventTranslator::time_of(const Event& event) noexcept {
  return last_ = std::max(clock_.to_time(ticks(event.time)), last_);
}

// Ids and time; false when the event refers to an id without a definition.
bool EventTranslator::translate(Event& event) {
  event.time = time_of(event);
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave: return false;  // see pass_other()
    case EventKind::kParameterString:
      event.value = ids_.strings[static_cast<std::uint32_t>(event.value)];
      event.ref = ids_.parameters[event.ref];
      if (event.ref != IdMap::kNone && event.ref == ids_.task_parameter) name_task();
      return event.ref != IdMap::kNone && event.value != IdMap::kNone;
    case EventKind::kParameterUint:
      event.ref = ids_.parameters[event.ref];
      if (event.ref == IdMap::kNone) return false;
      if (std::ranges::find(ids_.wakeup_parameters, event.ref) != ids_.wakeup_parameters.end()) {
        event.value = ids_.threads.in_run(event.value);
      }
      return true;
    case EventKind::kParameterInt:
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
    case EventKind::kMpiSend:
    case EventKind::kMpiRecv:
    case EventKind::kMpiIsend:
    case EventKind::kMpiIrecv:
    case EventKind::kMpiCollectiveEnd:
    case EventKind::kMpiCollectiveComplete:
    case EventKind::kCommCreate:
    case EventKind::kCommDestroy:
      event.ref = ids_.communicators[event.ref];
      return event.ref != IdMap::kNone;
    case EventKind::kOperand:
    case EventKind::kMpiIsendComplete:
    case EventKind::kMpiIrecvRequest:
    case EventKind::kMpiRequestTest:
    case EventKind::kMpiRequestCancelled:
    case EventKind::kMpiCollectiveBegin:
    case EventKind::kMpiCollectiveRequest:
    case EventKind::kWaiting:
    case EventKind::kRewindBegin:
    case EventKind::kRewindEnd: return true;
    case EventKind::kTeamFork:
    case EventKind::kTeamJoin:
    case EventKind::kTeamBegin:
    case EventKind::kTeamEnd:
    case EventKind::kTaskCreate:
    case EventKind::kTaskSwitch:
    case EventKind::kTaskComplete:
      if (event.value != 0) event.value = ids_.threads.in_run(event.value);
      teams_.pass(event, output_);
      return false;
    case EventKind::kTrack:
    case EventKind::kTrackEnd: return false;  // belongs to a track, not to a location
    default: return is_io(event.kind) && io_event(event);
  }
}

bool EventTranslator::io_event(Event& event) {
  switch (event.kind) {
    case EventKind::kIoOffset: return true;
    case EventKind::kIoDelete:
      event.value = ids_.strings[static_cast<std::uint32_t>(event.value)];
      return event.value != IdMap::kNone;
    case EventKind::kIoDuplicate: {
      const std::uint32_t copy = ids_.io_handles[io_handle_of(event.value)];
      event.value = io_word(copy, io_number_of(event.value));
      if (copy == IdMap::kNone) return false;
      break;
    }
    default: break;
  }
  event.ref = ids_.io_handles[event.ref];
  return event.ref != IdMap::kNone;
}

// A task is named when it starts, and again each time it is renamed.
void EventTranslator::name_task() noexcept {
  if (in_task_ || depth_ == 0) return;
  in_task_ = true;
  ++tasks_;
}

// False when the event comes later, or never: a thread that could not be started has no number.
bool EventTranslator::thread_event(Event& event) {
  if (!ids_.threads.ends.contains(event.value)) return false;
  if (event.kind == EventKind::kThreadWait) {
    waits_.push_back({depth_, event.value});
    return false;
  }
  event.value = ids_.threads.in_run(event.value);
  return true;
}

// The innermost region ends. The object that it waited for counts only if it has ended, since the
// wait may have had a time limit.
void EventTranslator::end_waits(Timestamp time) {
  for (; !waits_.empty() && waits_.back().depth >= depth_; waits_.pop_back()) {
    const std::uint64_t number = waits_.back().number;
    const std::optional<Timestamp>& end = ids_.threads.ends.at(number);
    if (!end || time < *end) continue;
    output_.push_back({time, EventKind::kThreadWait, 0, ids_.threads.in_run(number)});
  }
}

// A leave closes the region that was entered last. Where records are missing it may close more than
// one, or match none.
bool EventTranslator::leave(std::uint32_t region, Timestamp time) {
  if (!waits_.empty()) end_waits(time);
  std::uint32_t depth = depth_;
  while (depth > 0 && open_[depth - 1] != region) --depth;
  if (depth == 0) return false;
  for (; depth_ > depth; --depth_, ++closed_) {
    output_.push_back({time, EventKind::kLeave, open_[depth_ - 1], 0});
  }
  if (--depth_ == 0) in_task_ = false;
  return true;
}

// An enter or leave; false when it is dropped.
bool EventTranslator::pass(const Event& event) {
  const Timestamp time = time_of(event);
  const std::uint32_t region = ids_.regions[event.ref];
  if (region == IdMap::kNone) return false;
  if (event.kind == EventKind::kEnter) {
    if (depth_ == open_.size()) open_.resize(2 * open_.size());
    open_[depth_++] = region;
    if (ids_.regions.is_fallback(region)) ++unnamed_;
  } else if (!leave(region, time)) {
    return false;
  }
  output_.push_back({time, event.kind, region, 0});
  return true;
}

// Translates enters, and leaves of the region entered last, in place: nearly all events are such.
// Returns the first other event; the end of a task is one, too.
Event* EventTranslator::pass_calls(Event* event, const Event* end) noexcept {
  if (!waits_.empty()) return event;
  // Copies of members: the compiler must assume that members change with each event that is stored.
  const ProcessClock clock = clock_;
  Timestamp last = last_;
  std::uint32_t* top = open_.data() + depth_;
  const std::uint32_t* const bottom = open_.data() + (in_task_ ? 1 : 0);
  const std::uint32_t* const full = open_.data() + open_.size();
  for (; event != end; ++event) {
    const std::uint32_t region = ids_.regions[event->ref];
    if (event->kind == EventKind::kEnter) {
      if (region == IdMap::kNone || ids_.regions.is_fallback(region) || top == full) break;
      *top++ = region;
    } else {
      if (event->kind != EventKind::kLeave || top == bottom || top[-1] != region) break;
      --top;
    }
    event->time = last = std::max(clock.to_time(ticks(event->time)), last);
    event->ref = region;
  }
  depth_ = static_cast<std::uint32_t>(top - open_.data());
  last_ = last;
  return event;
}

void EventTranslator::pass_other(Event& event) {
  if (event.kind <= EventKind::kLeave) {
    if (!pass(event)) ++dropped_;
  } else if (translate(event)) {
    output_.push_back(event);
  } else if (event.kind < EventKind::kThreadCreate || is_io(event.kind) || is_mpi(event.kind)) {
    ++dropped_;
  }
}

void EventTranslator::translate(std::vector<Event>& batch) {
  Event* const end = batch.data() + batch.size();
  Event* event = pass_calls(batch.data(), end);
  if (event != end) {
    output_.assign(batch.data(), event);
    while (event != end) {
      pass_other(*event++);
      Event* const others = pass_calls(event, end);
      output_.insert(output_.end(), event, others);
      event = others;
    }
    batch.swap(output_);
  }
  rewinder_.pass(batch);
}

void EventTranslator::put_gap(const LastGap& gap, Timestamp end, std::vector<Event>& batch) const {
  const Timestamp until = std::max(gap.measured_until, last_);
  if (gap.waited != 0) batch.push_back({until, EventKind::kWaiting, 0, gap.waited});
  if (!gap.unmeasured) return;
  batch.push_back({until, EventKind::kEnter, ids_.unmeasured, 0});
  batch.push_back({end, EventKind::kLeave, ids_.unmeasured, 0});
}

void EventTranslator::close(Timestamp end, const std::optional<LastGap>& gap,
                            std::vector<Event>& batch) {
  batch = rewinder_.take();
  const Timestamp time = std::max(end, last_);
  if (gap && depth_ > 0 && ids_.unmeasured != IdMap::kNone) put_gap(*gap, time, batch);
  for (; depth_ > 0; --depth_) {
    const std::uint32_t region = open_[depth_ - 1];
    if (!ids_.forked.contains(region)) ++closed_;
    batch.push_back({time, EventKind::kLeave, region, 0});
  }
  last_ = time;
}

}  // namespace timeloom::weave
