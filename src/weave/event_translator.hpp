// Translates the events of one location from a spool into events of the run: with the ids of the
// run, times in nanoseconds, and a leave for every enter.
//
// There is one object for each location, used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/event.hpp"
#include "core/teams/team_events.hpp"
#include "weave/last_gap.hpp"
#include "weave/process_clock.hpp"
#include "weave/rewind.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

class EventTranslator {
 public:
  // No event gets a time before `begin`.
  EventTranslator(const ProcessIds& ids, const ProcessClock& clock, Timestamp begin,
                  const TeamEvents& teams = {{}, {}})
      : ids_(ids), clock_(clock), last_(begin), teams_(teams) {}

  // Translates the batch in place; it may become longer or shorter.
  void translate(std::vector<Event>& batch);
  // Replaces the batch by the events held back and the leaves of the open regions. The leaves are
  // at `end`, or at the last event if that is later. `gap`: time before that end, spent in the
  // innermost region.
  void close(Timestamp end, const std::optional<LastGap>& gap, std::vector<Event>& batch);

  std::uint64_t closed_regions() const noexcept { return closed_; }
  // Events that could not be kept: leaves without an enter, ids without a definition, and events of
  // teams that do not fit.
  std::uint64_t dropped_events() const noexcept { return dropped_ + teams_.dropped(); }
  // Events of teams whose start is among the oldest events, which the run has dropped.
  std::uint64_t older_events() const noexcept { return teams_.older(); }
  // Visits of regions whose definition is lost.
  std::uint64_t unnamed_visits() const noexcept { return unnamed_; }
  // Rewind regions that were too long to be discarded.
  std::uint64_t kept_rewinds() const noexcept { return rewinder_.kept(); }
  // Tasks that have started on this location, where it is a lane.
  std::uint64_t tasks() const noexcept { return tasks_; }
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
  bool io_event(Event& event);
  void put_gap(const LastGap& gap, Timestamp end, std::vector<Event>& batch) const;
  void end_waits(Timestamp time);
  void name_task() noexcept;
  bool leave(std::uint32_t region, Timestamp time);

  const ProcessIds& ids_;
  const ProcessClock& clock_;
  Timestamp last_;
  std::vector<std::uint32_t> open_ = std::vector<std::uint32_t>(64);  // outermost first
  std::uint32_t depth_ = 0;  // number of open regions, with ids of the run
  std::vector<Wait> waits_;
  std::vector<Event> output_;
  Rewinder rewinder_;
  TeamEvents teams_;
  std::uint64_t closed_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t unnamed_ = 0;
  std::uint64_t tasks_ = 0;
  bool in_task_ = false;  // the outermost open region is a task that has been counted
};

}  // namespace timeloom::weave
