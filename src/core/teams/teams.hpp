// The teams of threads of OpenMP in a run: the call path at which each was forked, and its members.
//
// The events of a member do not tell where its team was forked, so a pass over all events of the
// run finds the teams before the events reach a sink that wants them (team_scan.hpp). A team takes
// some 100 bytes, a task 16, call paths and lists of members are kept once. A value that stays as
// it is, for any thread. Throws nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "core/ids.hpp"

namespace timeloom {

struct Teams {
  using Parameters = std::vector<std::pair<ParameterId, std::uint64_t>>;  // values as in events

  // A call path: a region, which was entered in the call path `parent`.
  struct Path {
    std::uint32_t parent = 0;
    std::uint32_t region = 0;
    std::uint32_t depth = 0;
    Parameters parameters{};
  };
  struct Team {
    std::uint64_t number = 0;
    // The call path in which its members enter the parallel region; 0: not known.
    std::uint32_t path = 0;
    std::uint32_t members = 0;
    // The location that forked the team and began it next; undefined: not known.
    LocationId forked_by{};
  };
  struct Task {
    std::uint64_t number = 0;
    std::uint32_t creator = 0;  // index in its team of the thread that made it
  };

  std::vector<Path> paths = {{}};                // path 0 is above the roots; parents first
  std::vector<std::vector<LocationId>> members;  // lists, in order of the members' indices
  std::vector<Team> teams;                       // in order of their numbers
  std::vector<Task> tasks;                       // the same

  // Null: not known.
  const Team* team(std::uint64_t number) const noexcept {
    const auto found = std::ranges::lower_bound(teams, number, {}, &Team::number);
    return found != teams.end() && found->number == number ? &*found : nullptr;
  }
  const Task* task(std::uint64_t number) const noexcept {
    const auto found = std::ranges::lower_bound(tasks, number, {}, &Task::number);
    return found != tasks.end() && found->number == number ? &*found : nullptr;
  }
};

inline bool is_parallel(const Region& region) noexcept {
  return region.role == RegionRole::kParallel && region.paradigm == Paradigm::kOpenMp;
}

// Whether the run may have teams: it has the regions that they run.
inline bool has_teams(const Definitions& definitions) noexcept {
  return std::ranges::any_of(definitions.regions, is_parallel);
}

}  // namespace timeloom
