// A run with two teams of threads, one inside the other, and a task.
#pragma once

#include "core/teams/team_scan.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

inline constexpr std::uint64_t kOuterTeam = std::uint64_t{7} << 32;
inline constexpr std::uint64_t kInnerTeam = std::uint64_t{8} << 32;
inline constexpr std::uint64_t kOneTask = std::uint64_t{9} << 32;

// The main thread makes a team with the second thread twice; that one makes one with the third.
inline Story team_run() {
  Story run;
  Definitions& all = run.definitions;
  all.clock = {1'000'000'000, 0, 1000, {}};
  all.strings = {""};
  all.regions = {{"main", "main", "", "", 0, 0, Paradigm::kCompiler, RegionRole::kFunction},
                 {"!$omp parallel @a.c:3", "!$omp parallel @a.c:3", "a.c", "", 3, 0,
                  Paradigm::kOpenMp, RegionRole::kParallel}};
  all.groups = {{"Process", "node", 1, "", {}}};
  using enum EventKind;
  const auto add = [&](std::uint64_t id, const char* name, std::vector<Event> events) {
    all.locations.push_back(
        {LocationId{id << 32}, name, LocationGroupId{0}, LocationType::kCpuThread});
    all.locations.back().event_count = events.size();
    run.events[LocationId{id << 32}] = std::move(events);
  };
  const std::uint64_t again = std::uint64_t{10} << 32;
  add(0, "main",
      {event(1, kEnter, 0), event(2, kEnter, 1), event(2, kTeamFork, 2, kOuterTeam),
       event(3, kTeamBegin, 0, kOuterTeam), event(4, kTaskCreate, 0, kOneTask),
       event(40, kTeamEnd, 0, kOuterTeam), event(41, kTeamJoin, 0, kOuterTeam),
       event(42, kLeave, 1), event(43, kTeamFork, 2, again), event(44, kTeamBegin, 0, again),
       event(45, kTeamEnd, 0, again), event(46, kTeamJoin, 0, again), event(50, kLeave, 0)});
  add(1, "second",
      {event(3, kTeamBegin, 1, kOuterTeam), event(4, kEnter, 1),
       event(10, kTaskSwitch, 0, kOneTask), event(12, kTaskComplete, 0, kOneTask),
       event(12, kTaskSwitch), event(20, kTeamFork, 0, kInnerTeam),
       event(20, kTeamBegin, 0, kInnerTeam), event(30, kTeamEnd, 0, kInnerTeam),
       event(30, kTeamJoin, 0, kInnerTeam), event(39, kLeave, 1),
       event(40, kTeamEnd, 0, kOuterTeam), event(44, kTeamBegin, 1, again),
       event(45, kTeamEnd, 0, again)});
  add(2, "third", {event(21, kTeamBegin, 1, kInnerTeam), event(29, kTeamEnd, 0, kInnerTeam)});
  TeamScan scan;
  scan.begin(all);
  for (const Location& location : all.locations) {
    const auto events = scan.open_location(location);
    events->consume(run.events.at(location.id));
    events->finish();
  }
  scan.finish();
  all.teams = scan.take();
  return run;
}

}  // namespace timeloom::otf2
