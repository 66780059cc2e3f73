#include "tools/report/openmp/teams_at_once.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace timeloom::tools {
namespace {

struct TeamChange {
  Timestamp time;
  bool begins;  // ends come first
  const TeamsOfThread* teams;
};

// The teams that work at a moment, on one host.
class WorkingTeams {
 public:
  void apply(const TeamChange& change) {
    const std::uint64_t threads = change.teams->threads;
    auto& of_process = processes_[change.teams->process];
    auto& of_size = sizes_[threads];
    if (change.begins) {
      threads_ += threads;
      ++teams_, ++of_process, ++of_size;
      return;
    }
    threads_ -= threads;
    --teams_;
    if (--of_process == 0) processes_.erase(change.teams->process);
    if (--of_size == 0) sizes_.erase(threads);
  }

  std::uint64_t threads() const noexcept { return threads_; }
  TeamsAtOnce now() const {
    return {threads_, teams_, processes_.size(), sizes_.empty() ? 0 : sizes_.rbegin()->first};
  }

 private:
  std::uint64_t threads_ = 0, teams_ = 0;
  std::map<std::uint32_t, std::uint64_t> processes_;  // teams of each
  std::map<std::uint64_t, std::uint64_t> sizes_;      // teams with as many threads
};

}  // namespace

TeamsAtOnce most_threads_at_once(const std::vector<TeamsOfThread>& all) {
  std::map<std::string, std::vector<TeamChange>> hosts;
  for (const TeamsOfThread& one : all) {
    hosts[one.host].push_back({one.first, true, &one});
    hosts[one.host].push_back({one.last, false, &one});
  }
  TeamsAtOnce most;
  for (auto& [host, changes] : hosts) {
    std::ranges::stable_sort(changes, {}, [](const TeamChange& change) {
      return std::tuple(change.time, change.begins);
    });
    WorkingTeams working;
    for (const TeamChange& change : changes) {
      working.apply(change);
      if (working.threads() > most.threads) most = working.now();
    }
  }
  return most;
}

}  // namespace timeloom::tools
