// Removes the events that the program discarded from the events of one location: all events from
// the start of a rewind region to an end that discards.
//
// The events of an open rewind region are held back until it ends, up to a limit. Discarded events
// are replaced by a stretch without recording. Enters and leaves stay balanced: a leave whose enter
// precedes the region stays, and so does an enter that has no leave by its end. There is one object
// for each location, used by one thread. Throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/event.hpp"

namespace timeloom::weave {

class Rewinder {
 public:
  // Limit of the events that are held back, of 24 bytes each.
  static constexpr std::size_t kMostHeld = 4 << 20;

  // Replaces the batch by the events that can be handed on now.
  void pass(std::vector<Event>& batch);
  // The events still held back, at the end of the location.
  std::vector<Event> take();
  // Rewind regions that grew beyond the limit: their events are kept.
  std::uint64_t kept() const noexcept { return kept_; }

 private:
  struct Begin {
    std::uint32_t name;
    std::size_t at;  // in held_
    Timestamp time;
  };

  void end(const Event& event);
  void discard(std::size_t from, Timestamp begin, Timestamp end);

  std::vector<Begin> open_;  // outermost first
  std::vector<Event> held_;
  std::uint64_t kept_ = 0;
};

}  // namespace timeloom::weave
