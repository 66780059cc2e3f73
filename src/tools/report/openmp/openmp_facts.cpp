#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/teams/openmp_metrics.hpp"
#include "core/teams/openmp_properties.hpp"
#include "core/teams/openmp_waits.hpp"
#include "core/teams/teams.hpp"
#include "exchange/names.hpp"
#include "tools/report/openmp/fork_counts.hpp"
#include "tools/report/openmp/region_threads.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Cell;
using profile::Node;
using profile::NodeId;

constexpr Timestamp kNever{UINT64_MAX};

class OpenMpSums {
 public:
  explicit OpenMpSums(const CallTree& tree)
      : tree_(tree),
        waits_(tree.definitions.regions),
        forks_(tree),
        parallel_(tree.nodes.size()),
        inside_(tree.nodes.size()) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const NodeId parent = tree.nodes[i].parent;
      const Region* region = region_of(tree.nodes[i]);
      if (parent.defined())
        inside_[i] = parallel_[parent.value()] ? parent : inside_[parent.value()];
      parallel_[i] = region != nullptr && is_parallel(*region);
    }
  }

  OpenMpFacts facts() {
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      add(tree_.definitions.locations[i], tree_.locations[i]);
    }
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      for (const profile::MetricCell& cell : tree_.locations[i].metrics) {
        if (parallel_[cell.node.value()]) add_metric(tree_.definitions.locations[i], cell);
      }
    }
    for (const auto& [key, path] : by_region()) add_row(key.region, path);
    add_serial();
    add_teams();
    for (auto& [region, row] : rows_) facts_.regions.push_back(row);
    std::ranges::stable_sort(facts_.regions, [&](const ParallelRow& a, const ParallelRow& b) {
      return a.time != b.time ? a.time > b.time : name(a.region) < name(b.region);
    });
    add_properties();
    return std::move(facts_);
  }

 private:
  struct Forking {  // a thread that forks teams outside of all parallel regions
    std::uint32_t group;
    double in_parallel = 0;
    double life = 0;
    std::uint64_t team = 1;
    Timestamp first{}, last{};  // of its events; equal: not known. See narrow_lives()
  };

  const Region* region_of(const Node& node) const {
    return node.region.defined() ? &tree_.definitions.regions[node.region.value()] : nullptr;
  }
  std::string name(RegionId region) const {
    return exchange::region_name(tree_.definitions, region);
  }
  double time(std::uint64_t ticks) const { return seconds(ticks, tree_.definitions); }

  void add(const Location& location, const profile::LocationProfile& profile) {
    const std::vector<Cell>& cells = profile.cells;
    std::map<NodeId, const Cell*> by_node;
    std::map<NodeId, std::uint64_t> of_children;
    double life = 0;
    for (const Cell& cell : cells) {
      by_node[cell.node] = &cell;
      const NodeId parent = tree_.nodes[cell.node.value()].parent;
      if (parent.defined()) {
        of_children[parent] += cell.statistics.inclusive;
      } else {
        life += time(cell.statistics.inclusive);
      }
    }
    for (const Cell& cell : cells) {
      const std::size_t at = cell.node.value();
      const Region* region = region_of(tree_.nodes[at]);
      if (parallel_[at]) {
        if (cell.statistics.visits != 0)
          add_parallel(location, cell, caller_of(cell, by_node), life);
      } else if (inside_[at].defined() && region != nullptr && waits_.waits(*region)) {
        add_barrier(location, inside_[at],
                    time(cell.statistics.inclusive - of_children[cell.node]));
      }
    }
    lives_[location.id] = {profile.first, profile.last};
    if (const auto forking = forking_.find(location.id); forking != forking_.end()) {
      forking->second.first = profile.first;
      forking->second.last = profile.last;
    }
  }

  OfPath& sums_of(const Location& location, NodeId node) { return sums_[{node, location.group}]; }

  // nullptr: the location has none.
  const Cell* caller_of(const Cell& cell, const std::map<NodeId, const Cell*>& by_node) const {
    const auto found = by_node.find(tree_.nodes[cell.node.value()].parent);
    return found == by_node.end() ? nullptr : found->second;
  }

  void add_parallel(const Location& location, const Cell& cell, const Cell* caller, double life) {
    OfPath& sums = sums_of(location, cell.node);
    OfPath::Thread& thread = sums.threads[location.id];
    const double in_region = time(cell.statistics.inclusive);
    thread.working += in_region;
    thread.visits += cell.statistics.visits;
    const std::uint64_t forks = forks_.of(location, cell, caller);
    if (forks == 0) return;
    const double of_forks =
        in_region * static_cast<double>(forks) / static_cast<double>(cell.statistics.visits);
    thread.forks += forks;
    sums.calls += forks;
    sums.time += of_forks;
    if (inside_[cell.node.value()].defined()) return;
    Forking& forking = forking_[location.id];
    forking.group = location.group.value();
    forking.in_parallel += of_forks;
    forking.life = life;
  }

  // Tasks that run in a barrier or taskwait are not waiting.
  void add_barrier(const Location& location, NodeId parallel, double waiting) {
    OfPath::Thread& thread = sums_of(location, parallel).threads[location.id];
    thread.working -= waiting;
    thread.waiting += waiting;
  }

  // The thread that forks makes threads, or wakes them, before it works itself.
  void add_metric(const Location& location, const profile::MetricCell& cell) {
    const std::string& name = tree_.definitions.metrics[cell.metric.value()].name;
    const auto sums = sums_.find({cell.node, location.group});
    if (sums == sums_.end() || cell.statistics.count == 0) return;
    const auto thread = sums->second.threads.find(location.id);
    if (thread != sums->second.threads.end() && name == kOpenMpFork) {
      double& working = thread->second.working;
      const double forking =
          std::max(0.0, cell.statistics.sum) * 1e-9;  // files may have any number
      working = std::max(0.0, working - forking);
    }
    if (name == kOpenMpTeam) {
      sums->second.add_sizes(team_size(cell.statistics.min), team_size(cell.statistics.max));
    }
  }
  // Files may have any number.
  static std::uint64_t team_size(double value) {
    constexpr double kLargestTeam = 1e6;
    return static_cast<std::uint64_t>(std::clamp(std::isnan(value) ? 1 : value, 1.0, kLargestTeam));
  }

  struct Key {
    RegionId region;
    LocationGroupId group;
    NodeId node;  // undefined: all call paths
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // The threads of each call path, or of all call paths of a region, if it is not known which
  // threads some of them were forked by: in a part of a run its members have call paths of their
  // own.
  std::map<Key, OfPath> by_region() const {
    std::map<Key, OfPath> result;
    const auto key_of = [&](NodeId node, LocationGroupId group) {
      return Key{tree_.nodes[node.value()].region, group, {}};
    };
    std::set<Key> unknown;
    for (const auto& [key, path] : sums_) {
      if (path.calls == 0) unknown.insert(key_of(key.first, key.second));
    }
    for (const auto& [key, path] : sums_) {
      Key place = key_of(key.first, key.second);
      if (!unknown.contains(place)) place.node = key.first;
      result[place].add(path);
    }
    return result;
  }

  void add_row(RegionId region, const OfPath& path) {
    ParallelRow& row = rows_[region];
    row.region = region;
    row.calls += path.calls;
    row.time += path.time;
    row.threads = std::max(row.threads, path.team());
    row.fewest =
        row.fewest == 0 ? path.smallest_team() : std::min(row.fewest, path.smallest_team());
    double all = 0;
    for (const auto& [location, thread] : path.threads) {
      all += thread.working;
      row.waiting += thread.waiting;
      const auto known = forking_.find(location);
      if (thread.forks == 0 || known == forking_.end())
        continue;  // forks only inside other regions
      known->second.team = std::max(known->second.team, path.team());
    }
    const double mean = all / path.mean_team();
    row.working += all;
    row.mean += mean;
    row.longest += std::max(path.longest(), mean);
    facts_.threads = std::max(facts_.threads, path.team());
  }

  // When the teams of a thread may have worked: from the first event of their other members to the
  // last one, as far as the thread lives. A thread without other members may work all its life.
  void narrow_lives() {
    std::map<LocationId, std::pair<Timestamp, Timestamp>> of_members;
    for (const auto& [key, path] : sums_) {
      std::pair<Timestamp, Timestamp> life{kNever, {}};
      for (const auto& [member, thread] : path.threads) {
        if (thread.forks) continue;
        const auto& [first, last] = lives_.at(member);
        life = {std::min(life.first, first), std::max(life.second, last)};
      }
      for (const auto& [location, thread] : path.threads) {
        if (!thread.forks) continue;
        auto& [first, last] = of_members.try_emplace(location, kNever, Timestamp{}).first->second;
        first = std::min(first, life.first);
        last = std::max(last, life.second);
      }
    }
    for (auto& [location, one] : forking_) {
      const auto& [first, last] = of_members[location];
      const Timestamp from = std::max(one.first, first), to = std::min(one.last, last);
      if (from < to) one.first = from, one.last = to;
    }
  }

  // Of the threads of a process whose lives are not known, one counts, at all times.
  void add_teams() {
    narrow_lives();
    std::vector<TeamsOfThread> all;
    std::map<std::uint32_t, TeamsOfThread> unknown;
    const auto& groups = tree_.definitions.groups;
    for (const auto& [location, one] : forking_) {
      const bool known = one.group < groups.size();
      TeamsOfThread teams{known ? groups[one.group].hostname : std::string(), one.group, one.team,
                          one.first, one.last};
      if (one.first < one.last) {
        all.push_back(std::move(teams));
        continue;
      }
      const std::uint64_t before = unknown[one.group].threads;
      teams.threads = std::max(teams.threads, before);
      teams.first = {};
      teams.last = kNever;
      unknown[one.group] = std::move(teams);
    }
    for (auto& [group, teams] : unknown) all.push_back(std::move(teams));
    facts_.at_once = most_threads_at_once(all);
  }

  void add_serial() {
    for (const auto& [location, one] : forking_) {
      const double outside = std::max(one.life - one.in_parallel, 0.0);
      facts_.parallel += one.in_parallel;
      facts_.serial += outside;
      facts_.idle += outside * static_cast<double>(one.team - 1);
    }
  }

  void add_properties() {
    const auto& properties = tree_.definitions.properties;
    if (const auto text = properties.find(kOmpNumThreads); text != properties.end()) {
      facts_.num_threads = text->second;
    }
    if (const auto text = properties.find(kUsableCores); text != properties.end()) {
      const std::string& digits = text->second;
      std::uint64_t cores = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), cores);
      if (cores != 0) facts_.cores = cores;
    }
  }

  const CallTree& tree_;
  const OpenMpWaits waits_;
  const ForkCounts forks_;
  std::vector<bool> parallel_;  // of nodes: it is a parallel region
  std::vector<NodeId> inside_;  // the innermost parallel region around it; undefined: none
  std::map<std::pair<NodeId, LocationGroupId>, OfPath> sums_;
  std::map<RegionId, ParallelRow> rows_;
  std::map<LocationId, Forking> forking_;
  std::map<LocationId, std::pair<Timestamp, Timestamp>> lives_;  // first and last events
  OpenMpFacts facts_;
};

}  // namespace

OpenMpFacts openmp_facts(const CallTree& tree) { return OpenMpSums(tree).facts(); }

}  // namespace timeloom::tools
