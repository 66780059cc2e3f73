// Corrects the events of one location to the form that sinks rely on: time does not go
// back, and enter and leave balance. Corrections are counted.
//
// Used by one thread; appends to the batch of its owner.
#pragma once

#include <vector>

#include "core/event.hpp"

namespace timeloom::otf2 {

struct Repairs {
  std::uint64_t closed_regions = 0;    // were left by nobody
  std::uint64_t dropped_leaves = 0;    // left what was not entered
  std::uint64_t moved_events = 0;      // lay before the event in front of them
  std::uint64_t undefined_events = 0;  // left out: refer to what is not defined
  std::uint64_t missing_events = 0;    // defined, but not in the file or damaged there
  std::uint64_t damaged_files = 0;     // read as far as they are sound

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

  // Leaves everything that is open, at the time of the last event.
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
