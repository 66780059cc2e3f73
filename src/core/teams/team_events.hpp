// Decides which events of teams and their tasks belong to the run, on one location: a team is
// forked at most once, begins after its fork, and ends and is joined from the inside out.
//
// Records of a damaged spool may miss each of these events, repeat it or invent it. Whatever passes
// here can be written as an OTF2 archive and read again, event by event. Used by one thread; throws
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "core/event.hpp"
#include "core/teams/teams.hpp"

namespace timeloom {

// The forks of one location. Teams of a spool have growing numbers, so no number is forked twice.
class TeamForks {
 public:
  // False: the fork is not counted as one; it is repeated, or out of order.
  bool fork(std::uint64_t number) noexcept {
    if (number <= last_) return false;
    last_ = pending_ = number;
    return true;
  }
  // Whether the team that begins is the one that this location has forked before it.
  bool begin(std::uint64_t number) noexcept {
    const bool own = pending_ == number && number != 0;
    pending_ = 0;
    return own;
  }

 private:
  std::uint64_t last_ = 0;
  std::uint64_t pending_ = 0;  // forked, and has not begun here; 0: none
};

// The teams of a run, as far as its source has looked for them.
struct TeamsOfRun {
  bool known = false;
  const Teams* teams = nullptr;  // null: the run has none; it stays valid
  bool older_missing = false;    // the run has dropped the oldest events of the process
};

class TeamEvents {
 public:
  TeamEvents(TeamsOfRun of, LocationId location) noexcept : of_(of), location_(location) {}

  // Appends the event to `to`, after the ends that it implies, or leaves it out. Everything passes
  // if the teams are not known. REQUIRES: is_of_team(event.kind).
  void pass(Event event, std::vector<Event>& to);
  // Events that were left out as damaged. Three kinds are left out and not counted: tasks outside
  // of teams, teams that no thread has begun, and everything in a run without parallel regions,
  // which a filter may leave out.
  std::uint64_t dropped() const noexcept { return dropped_; }
  // Events that were left out because the start of their team or task is among the oldest events,
  // which the run has dropped.
  std::uint64_t older() const noexcept { return older_; }

 private:
  // The least number of the teams that have begun here, or have been forked. A team whose start is
  // missing surrounds all that follow it, so its number is smaller.
  struct First {
    std::uint64_t number = UINT64_MAX;
    bool meets(std::uint64_t other) noexcept;
  };

  bool is_older(const Event& event) noexcept;
  bool fork(Event& event);
  bool begin(std::uint64_t number);
  bool is_known_task(const Event& event) const noexcept;
  static bool close(std::vector<std::uint64_t>& open, const Event& event, std::vector<Event>& to);

  TeamsOfRun of_;
  LocationId location_;
  TeamForks forks_;
  std::vector<std::uint64_t> open_;    // teams that have begun and not ended, outermost first
  std::vector<std::uint64_t> forked_;  // the same of those that this location joins
  bool forks_next_ = false;            // the fork of the team that begins next has passed
  First first_begun_;
  First first_forked_;
  std::uint64_t outside_ = 0;  // events of tasks outside of known teams
  std::uint64_t older_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace timeloom
