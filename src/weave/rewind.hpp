// Takes out of the events of one location what the program discarded: all between
// the begin of a rewind region and an end that says so.
//
// What has begun is held back until it ends, up to a limit. In place of what is
// discarded the location says that nothing was recorded. Enter and leave balance:
// a leave of what was entered before the begin stays, so does an enter that is not
// left at the end. One object a location, used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/event.hpp"

namespace timeloom::weave {

class Rewinder {
 public:
  // Events that are held back; one of 24 bytes each.
  static constexpr std::size_t kMostHeld = 4 << 20;

  // Changes the batch to what can be handed on now.
  void pass(std::vector<Event>& batch);
  // What is still held back, at the end of the location.
  std::vector<Event> take();
  // Begins whose end came too late: nothing of them is discarded.
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
