#include "weave/rewind.hpp"

#include <algorithm>
#include <utility>

namespace timeloom::weave {
namespace {

bool is_rewind(const Event& event) noexcept {
  return event.kind == EventKind::kRewindBegin || event.kind == EventKind::kRewindEnd;
}

// Other locations refer to these events, so they stay.
bool is_of_threads(EventKind kind) noexcept {
  return kind == EventKind::kThreadCreate || kind == EventKind::kThreadBegin ||
         kind == EventKind::kThreadEnd || kind == EventKind::kThreadWait || is_of_team(kind);
}

}  // namespace

void Rewinder::pass(std::vector<Event>& batch) {
  if (open_.empty() && std::ranges::none_of(batch, is_rewind)) return;  // nearly always
  std::vector<Event> ready;
  for (const Event& event : batch) {
    if (event.kind == EventKind::kRewindBegin) {
      open_.push_back({event.ref, held_.size(), event.time});
    } else if (event.kind == EventKind::kRewindEnd) {
      end(event);
    } else {
      held_.push_back(event);
    }
    if (held_.size() > kMostHeld) {
      kept_ += open_.size();
      open_.clear();
    }
    if (open_.empty()) {
      ready.insert(ready.end(), held_.begin(), held_.end());
      held_.clear();
    }
  }
  batch.swap(ready);
}

std::vector<Event> Rewinder::take() {
  open_.clear();
  return std::exchange(held_, {});
}

// Also ends the rewind regions that began inside and have not ended. An end without a start is
// ignored.
void Rewinder::end(const Event& event) {
  const auto begin = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const Begin& one) { return one.name == event.ref; });
  if (begin == open_.rend()) return;
  if (event.value != 0) discard(begin->at, begin->time, event.time);
  open_.erase(std::next(begin).base(), open_.end());
}

void Rewinder::discard(std::size_t from, Timestamp begin, Timestamp end) {
  std::vector<Event> staying;
  std::vector<std::size_t> entered;  // positions in `staying` of enters without a leave so far
  for (std::size_t i = from; i < held_.size(); ++i) {
    const Event& event = held_[i];
    if (event.kind == EventKind::kEnter) {
      entered.push_back(staying.size());
      staying.push_back(event);
    } else if (event.kind == EventKind::kLeave && !entered.empty()) {
      staying.erase(staying.begin() + static_cast<std::ptrdiff_t>(entered.back()));
      entered.pop_back();
    } else if (event.kind == EventKind::kLeave || is_of_threads(event.kind)) {
      staying.push_back(event);
    }
  }
  held_.resize(from);
  held_.push_back({begin, EventKind::kRecordingOff, 0, 0});
  held_.insert(held_.end(), staying.begin(), staying.end());
  held_.push_back({end, EventKind::kRecordingOn, 0, 0});
}

}  // namespace timeloom::weave
