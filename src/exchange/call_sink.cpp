#include "exchange/call_sink.hpp"

#include "core/wakeups.hpp"

namespace timeloom::exchange {

void CallSink::consume(std::span<const Event> events) {
  for (const Event& event : events) {
    if (wakeup_end_of(event, definitions_) != WakeupEnd::kNone) {
      if (entered_) pass_enter();
      other(event);
      continue;
    }
    if (is_parameter(event.kind)) {
      if (depth_ == 0 || !is_sound(event, definitions_)) continue;
      if (entered_) {
        arguments_.push_back(event);
      } else {
        late_.emplace_back(depth_, event);
      }
      continue;
    }
    if (entered_) pass_enter();
    switch (event.kind) {
      case EventKind::kEnter:
        entered_ = event;
        ++depth_;
        break;
      case EventKind::kLeave: leave_now(event); break;
      case EventKind::kMetric:
        if (event.ref < definitions_.metrics.size()) value(event);
        break;
      default: other(event);
    }
  }
}

void CallSink::finish() {
  if (entered_) pass_enter();
  end();
}

void CallSink::pass_enter() {
  enter(*entered_, arguments_);
  entered_.reset();
  arguments_.clear();
}

void CallSink::leave_now(const Event& event) {
  of_leave_.clear();
  std::size_t first = late_.size();
  while (first > 0 && late_[first - 1].first == depth_) --first;
  for (std::size_t i = first; i < late_.size(); ++i) of_leave_.push_back(late_[i].second);
  late_.resize(first);
  --depth_;
  leave(event, of_leave_);
}

}  // namespace timeloom::exchange
