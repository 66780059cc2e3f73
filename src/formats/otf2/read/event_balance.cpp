#include "formats/otf2/read/event_balance.hpp"

#include <algorithm>

namespace timeloom::otf2 {

void Repairs::add(const Repairs& other) {
  closed_regions += other.closed_regions;
  dropped_leaves += other.dropped_leaves;
  moved_events += other.moved_events;
  undefined_events += other.undefined_events;
  missing_events += other.missing_events;
  damaged_files += other.damaged_files;
}

void EventBalance::close_all() {
  while (!open_.empty()) leave_top();
}

void EventBalance::move(Event& event) {
  event.time = last_;
  ++repairs_.moved_events;
}

// The regions above `region` lost their leaves; if `region` is not open, the leave is wrong.
bool EventBalance::close_down_to(std::uint32_t region) {
  if (std::find(open_.begin(), open_.end(), region) == open_.end()) {
    ++repairs_.dropped_leaves;
    return false;
  }
  while (open_.back() != region) leave_top();
  return true;
}

void EventBalance::leave_top() {
  batch_.push_back({last_, EventKind::kLeave, open_.back(), 0});
  open_.pop_back();
  ++repairs_.closed_regions;
}

}  // namespace timeloom::otf2
