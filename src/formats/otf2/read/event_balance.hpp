// Corrects the events of one location to the form that sinks rely on: times never decrease, and
// enters and leaves balance. Corrections are counted.
//
// Used by one thread; appends to its owner's batch. Throws only std::bad_alloc.
#pragma once

#include <vector>

#include "core/event.hpp"

namespace timeloom::otf2 {

struct Repairs {
  std::uint64_t closed_regions = 0;    // regions without a leave
  std::uint64_t dropped_leaves = 0;    // leaves without an enter
  std::uint64_t moved_events = 0;      // events with a time before the preceding event
  std::uint64_t undefined_events = 0;  // left out: they refer to an undefined id
  std::uint64_t missing_events = 0;    // defined, but not in the file or damaged there
  std::uint64_t damaged_files = 0;     // read up to their first defect

  void add(const Repairs& other);
};

class EventBalance {
 public:
  EventBalance(std::vector<Event>& batch, Repairs& repairs) : batch_(batch), repairs_(repairs) {}

  void add(Event event) {
    if (event.time < last_) [[unlikely]]
      move(event);
    last_ = event.time;
    if (event.kind == EventKind::kEnter) {
      open_.push_back(event.ref);
    } else if (event.kind == EventKind::kLeave) {
      if (open_.empty() || open_.back() != event.ref) [[unlikely]] {
        if (!close_down_to(event.ref)) return;
      }
      open_.pop_back();
    } else if (event.kind == EventKind::kProgramEnd) {
      close_all();
    }
    batch_.push_back(event);
  }

  // Leaves all open regions, at the time of the last event.
  void close_all();

 private:
  void move(Event& event);
  bool close_down_to(std::uint32_t region);
  void leave_top();

  std::vector<Event>& batch_;
  Repairs& repairs_;
  std::vector<std::uint32_t> open_;  // regions
  Timestamp last_{};
};

}  // namespace timeloom::otf2
