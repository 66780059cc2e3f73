#include "core/teams/team_scan.hpp"

#include <algorithm>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "core/wakeups.hpp"

namespace timeloom {

namespace {

constexpr std::size_t kMembersAtOnce = 4096;
constexpr unsigned kMostNested = 64;  // more levels come from damage

bool is_parameter_event(EventKind kind) noexcept {
  return kind >= EventKind::kParameterInt && kind <= EventKind::kParameterString;
}

}  // namespace

std::uint32_t TeamPaths::child(std::uint32_t parent, std::uint32_t region,
                               const Teams::Parameters& values) {
  const auto next = static_cast<std::uint32_t>(paths_.size());
  const auto [found, fresh] = known_.try_emplace({parent, region, values}, next);
  if (fresh) paths_.push_back({parent, region, paths_[parent].depth + 1, values});
  return found->second;
}

// Keeps the open regions, and looks their call path up only where a team is forked.
class TeamScan::OfLocation : public LocationSink {
 public:
  OfLocation(TeamScan& scan, LocationId location) : scan_(scan), location_(location) {
    part_.location = location;
  }

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      if (event.kind == EventKind::kEnter) {
        open_.push_back({event.ref, 0});
      } else if (event.kind == EventKind::kLeave) {
        leave();
      } else if (is_parameter_event(event.kind)) {
        parameter(event);
      } else if (is_of_team(event.kind)) {
        team(event);
      }
    }
  }

  void finish() override {
    if (!members_.empty()) scan_.add_members(location_, members_);
    if (!part_.forks.empty() || !tasks_.empty()) scan_.add(std::move(part_), tasks_);
  }

 private:
  struct Open {
    std::uint32_t region;
    std::uint32_t path;  // 0: not looked up
  };
  struct Given {
    std::size_t depth;  // of the region that has the value
    ParameterId parameter;
    std::uint64_t value;
  };
  struct Current {  // a team that the location is a member of
    std::uint64_t number;
    std::uint32_t index;
    std::size_t depth;  // regions open when it began, if another thread forked it
  };

  void leave() {
    if (open_.empty()) return;
    open_.pop_back();
    while (!given_.empty() && given_.back().depth > open_.size()) given_.pop_back();
  }

  void parameter(const Event& event) {
    const auto& all = scan_.definitions_->parameters;
    if (open_.empty() || event.ref >= all.size()) return;
    const Parameter& given = all[event.ref];
    if (!given.splits_call_paths() || tells_of_task(given)) return;
    if (wakeup_end_of(given) != WakeupEnd::kNone) return;
    open_.back().path = 0;
    for (auto one = given_.rbegin(); one != given_.rend() && one->depth == open_.size(); ++one) {
      if (one->parameter == event.parameter()) return void(one->value = event.value);
    }
    given_.push_back({open_.size(), event.parameter(), event.value});
  }

  void team(const Event& event) {
    switch (event.kind) {
      case EventKind::kTeamFork: return fork(event.value);
      case EventKind::kTeamBegin: return begin(event);
      case EventKind::kTeamEnd:
        if (!teams_.empty() && teams_.back().number == event.value) teams_.pop_back();
        return;
      case EventKind::kTaskCreate:
        tasks_.push_back({event.value, teams_.empty() ? 0 : teams_.back().index});
        return;
      default: return;
    }
  }

  void fork(std::uint64_t number) {
    last_fork_ = number;
    if (own_forks_.fork(number)) own_fork_ = part_.forks.size();
    const auto other = std::find_if(teams_.rbegin(), teams_.rend(),
                                    [](const Current& one) { return one.depth != kOwn; });
    const bool member = other != teams_.rend();
    part_.forks.push_back(
        {number, member ? other->number : 0, path_above(member ? other->depth : 0)});
  }

  void begin(const Event& event) {
    if (own_forks_.begin(event.value)) part_.forks[own_fork_].begun = true;
    const std::size_t depth = event.value == last_fork_ ? kOwn : open_.size();
    teams_.push_back({event.value, event.ref, depth});
    members_.push_back({event.value, event.ref});
    if (members_.size() < kMembersAtOnce) return;
    scan_.add_members(location_, members_);
    members_.clear();
  }

  // The call path of the open regions from `first` on, without the parallel region: each member
  // enters that itself.
  std::uint32_t path_above(std::size_t first) {
    std::size_t last = open_.size();
    const auto& regions = scan_.definitions_->regions;
    if (last > first && open_[last - 1].region < regions.size() &&
        is_parallel(regions[open_[last - 1].region])) {
      --last;
    }
    std::size_t known = std::max(last, first);
    while (known > first && open_[known - 1].path == 0) --known;
    std::uint32_t path = known > first ? open_[known - 1].path : 0;
    for (; known < last; ++known) {
      path = open_[known].path = part_.paths.child(path, open_[known].region, values_of(known + 1));
    }
    return path;
  }

  Teams::Parameters values_of(std::size_t depth) const {
    Teams::Parameters values;
    const auto end = given_.end();
    for (auto one = std::ranges::lower_bound(given_, depth, {}, &Given::depth);
         one != end && one->depth == depth; ++one) {
      values.emplace_back(one->parameter, one->value);
    }
    return values;
  }

  static constexpr std::size_t kOwn = SIZE_MAX;

  TeamScan& scan_;
  const LocationId location_;
  std::vector<Open> open_;    // outermost first
  std::vector<Given> given_;  // in order of depth
  std::vector<Current> teams_;
  std::uint64_t last_fork_ = 0;
  TeamForks own_forks_;
  std::size_t own_fork_ = 0;  // place of the last of them
  Part part_;
  std::vector<Member> members_;
  std::vector<Teams::Task> tasks_;
};

std::unique_ptr<LocationSink> TeamScan::open_location(const Location& location) {
  return std::make_unique<OfLocation>(*this, location.id);
}

void TeamScan::add_members(LocationId location, const std::vector<Member>& members) {
  const std::lock_guard lock(mutex_);
  for (const Member& one : members) {
    std::uint32_t& set = members_[one.number];
    const auto next = static_cast<std::uint32_t>(sets_.size());
    const auto [found, fresh] = known_sets_.try_emplace({set, one.index, location}, next);
    if (fresh) sets_.push_back({set, one.index, location});
    set = found->second;
  }
}

void TeamScan::add(Part&& part, const std::vector<Teams::Task>& tasks) {
  const std::lock_guard lock(mutex_);
  parts_.push_back(std::move(part));
  teams_.tasks.insert(teams_.tasks.end(), tasks.begin(), tasks.end());
}

// A team that locations of a damaged run have forked more than once was forked where it began.
void TeamScan::find_forks() {
  std::ranges::sort(parts_, {}, &Part::location);
  for (const bool begun : {true, false}) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const std::vector<Fork>& forks = parts_[part].forks;
      for (std::size_t i = 0; i < forks.size(); ++i) {
        if (forks[i].begun == begun) forks_.try_emplace(forks[i].number, part, i);
      }
    }
  }
}

LocationId TeamScan::location_of_fork(std::uint64_t number) const {
  const auto found = forks_.find(number);
  if (found == forks_.end()) return {};
  const auto [part, place] = found->second;
  return parts_[part].forks[place].begun ? parts_[part].location : LocationId{};
}

void TeamScan::finish() {
  find_forks();
  // In order, because the order in which locations were read depends on time.
  for (const auto& [number, set] : members_) teams_.teams.push_back({number, 0, set, {}});
  std::ranges::sort(teams_.teams, {}, &Teams::Team::number);
  for (Teams::Team& team : teams_.teams) {
    team.path = path_of(team.number, 0);
    team.members = list_of(team.members);
    team.forked_by = location_of_fork(team.number);
  }
  std::ranges::sort(teams_.tasks, {}, &Teams::Task::number);
  teams_.paths = paths_.take();
}

std::uint32_t TeamScan::path_of(std::uint64_t number, unsigned nested) {
  const auto found = forks_.find(number);
  if (found == forks_.end() || nested == kMostNested) return 0;
  const auto [part, place] = found->second;
  const Fork& fork = parts_[part].forks[place];
  const std::uint32_t outer = fork.outer == 0 ? 0 : path_of(fork.outer, nested + 1);
  return in_run(part, outer, fork.path);
}

// The call path of a location, below a call path of the run.
std::uint32_t TeamScan::in_run(std::size_t part, std::uint32_t outer, std::uint32_t path) {
  const std::vector<Teams::Path>& local = parts_[part].paths.paths();
  std::vector<std::uint32_t> unknown;  // innermost first
  std::uint32_t result = outer;
  for (; path != 0; path = local[path].parent) {
    const auto known = known_paths_.find({part, outer, path});
    if (known != known_paths_.end()) {
      result = known->second;
      break;
    }
    unknown.push_back(path);
  }
  for (; !unknown.empty(); unknown.pop_back()) {
    const Teams::Path& one = local[unknown.back()];
    result = paths_.child(result, one.region, one.parameters);
    known_paths_[{part, outer, unknown.back()}] = result;
  }
  return result;
}

std::uint32_t TeamScan::list_of(std::uint32_t set) {
  std::vector<std::pair<std::uint32_t, LocationId>> by_index;
  for (; set != 0; set = sets_[set].rest)
    by_index.emplace_back(sets_[set].index, sets_[set].location);
  std::ranges::sort(by_index);
  std::vector<LocationId> list;
  for (const auto& [index, location] : by_index) list.push_back(location);
  const auto next = static_cast<std::uint32_t>(teams_.members.size());
  const auto [found, fresh] = known_lists_.try_emplace(std::move(list), next);
  if (fresh) teams_.members.push_back(found->first);
  return found->second;
}

}  // namespace timeloom
