// Finds the teams of threads of OpenMP in a run: a sink for all its events.
//
// Used by a source for its own events, before it feeds them to a sink that wants the teams. Thread
// safety: see RunSink. Throws std::bad_alloc.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/event.hpp"
#include "core/teams/team_events.hpp"
#include "core/teams/teams.hpp"

namespace timeloom {

// Call paths, each once.
class TeamPaths {
 public:
  std::uint32_t child(std::uint32_t parent, std::uint32_t region, const Teams::Parameters& values);
  const std::vector<Teams::Path>& paths() const noexcept { return paths_; }
  std::vector<Teams::Path> take() { return std::move(paths_); }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, Teams::Parameters>;
  std::vector<Teams::Path> paths_ = {{}};
  std::map<Key, std::uint32_t> known_;
};

class TeamScan : public RunSink {
 public:
  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

  // The result; once, after finish().
  std::shared_ptr<const Teams> take() { return std::make_shared<const Teams>(std::move(teams_)); }

 private:
  class OfLocation;
  struct Fork {
    std::uint64_t number;
    std::uint64_t outer;  // the team that the forking thread was a member of; 0: none
    std::uint32_t path;   // of the location, below the path of the outer team
    bool begun = false;   // the location began the team next
  };
  struct Part {  // of one location
    LocationId location;
    TeamPaths paths;
    std::vector<Fork> forks;
  };
  struct Member {
    std::uint64_t number;
    std::uint32_t index;
  };

  void add_members(LocationId location, const std::vector<Member>& members);
  void add(Part&& part, const std::vector<Teams::Task>& tasks);
  void find_forks();
  LocationId location_of_fork(std::uint64_t number) const;
  std::uint32_t path_of(std::uint64_t number, unsigned nested);
  std::uint32_t in_run(std::size_t part, std::uint32_t outer, std::uint32_t path);
  std::uint32_t list_of(std::uint32_t set);

  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;  // guards the rest while locations are fed
  std::vector<Part> parts_;
  // Members so far, by team: a place in sets_, each of which adds one member to another set.
  std::unordered_map<std::uint64_t, std::uint32_t> members_;
  struct Set {
    std::uint32_t rest;
    std::uint32_t index;
    LocationId location;
  };
  std::vector<Set> sets_ = {{}};  // the first is empty
  std::map<std::tuple<std::uint32_t, std::uint32_t, LocationId>, std::uint32_t> known_sets_;

  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>> forks_;  // part, place
  TeamPaths paths_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::uint32_t> known_paths_;
  std::map<std::vector<LocationId>, std::uint32_t> known_lists_;
  Teams teams_;
};

}  // namespace timeloom
