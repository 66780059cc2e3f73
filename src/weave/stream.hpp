// Turns the events of one location, as the spool has them, into the events of
// the run: ids of the run, nanoseconds, and every enter with its leave.
//
// One object a location, used by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/event.hpp"
#include "weave/process_clock.hpp"
#include "weave/rewind.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

class Stream {
 public:
  // No event gets a time before `begin`.
  Stream(const ProcessIds& ids, const ProcessClock& clock, Timestamp begin)
      : ids_(ids), clock_(clock), last_(begin) {}

  // Translates the batch in place; it may become longer or shorter.
  void translate(std::vector<Event>& batch);
  // What is held back, then the leaves of what is still open, at `end` or the last event if that is
  // later.
  void close(Timestamp end, std::vector<Event>& batch);

  std::uint64_t closed_regions() const noexcept { return closed_; }
  // Events that could not be kept: leaves of nothing, ids without a definition.
  std::uint64_t dropped_events() const noexcept { return dropped_; }
  // Parts that the program discarded, and that were too long for it.
  std::uint64_t kept_rewinds() const noexcept { return rewinder_.kept(); }
  Timestamp last_time() const noexcept { return last_; }

 private:
  struct Wait {
    std::uint32_t depth;  // of the region that waits
    std::uint64_t number;
  };

  Timestamp time_of(const Event& event) noexcept;
  Event* pass_calls(Event* event, const Event* end) noexcept;
  void pass_other(Event& event);
  bool pass(const Event& event);
  bool translate(Event& event);
  bool thread_event(Event& event);
  void end_waits(Timestamp time);
  bool leave(std::uint32_t region, Timestamp time);

  const ProcessIds& ids_;
  const ProcessClock& clock_;
  Timestamp last_;
  std::vector<std::uint32_t> open_ = std::vector<std::uint32_t>(64);  // outermost first
  std::uint32_t depth_ = 0;  // of them: regions of the run that are open
  std::vector<Wait> waits_;
  std::vector<Event> output_;
  Rewinder rewinder_;
  std::uint64_t closed_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace timeloom::weave
