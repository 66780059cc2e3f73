#include <algorithm>
#include <charconv>
#include <map>

#include "core/teams/openmp_properties.hpp"
#include "core/teams/teams.hpp"
#include "exchange/names.hpp"
#include "tools/report/openmp/report_openmp.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Cell;
using profile::Node;
using profile::NodeId;

bool is_barrier(const Region& region) {
  return region.paradigm == Paradigm::kOpenMp &&
         (region.role == RegionRole::kImplicitBarrier || region.role == RegionRole::kBarrier);
}

// The threads of one process in one parallel region.
struct OfProcess {
  struct Thread {
    double working = 0;
    double waiting = 0;
  };
  std::map<LocationId, Thread> threads;
  std::map<LocationId, bool> forking;
  std::uint64_t calls = 0;
  double time = 0;
  // Several threads of a process may have a team each.
  std::uint64_t team() const {
    const std::size_t teams = std::max<std::size_t>(forking.size(), 1);
    return (threads.size() + teams - 1) / teams;
  }
};

class OpenMpSums {
 public:
  explicit OpenMpSums(const CallTree& tree)
      : tree_(tree), parallel_(tree.nodes.size()), inside_(tree.nodes.size()) {
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
      add(tree_.definitions.locations[i], tree_.locations[i].cells);
    }
    for (const auto& [key, process] : sums_) add_row(key.first, process);
    add_serial();
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
  };

  const Region* region_of(const Node& node) const {
    return node.region.defined() ? &tree_.definitions.regions[node.region.value()] : nullptr;
  }
  std::string name(RegionId region) const {
    return exchange::region_name(tree_.definitions, region);
  }
  double time(std::uint64_t ticks) const { return seconds(ticks, tree_.definitions); }

  void add(const Location& location, const std::vector<Cell>& cells) {
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
        if (cell.statistics.visits != 0) add_parallel(location, cell, by_node, life);
      } else if (inside_[at].defined() && region != nullptr && is_barrier(*region)) {
        add_barrier(location, inside_[at],
                    time(cell.statistics.inclusive - of_children[cell.node]));
      }
    }
  }

  // The calls around a region that another thread has forked were not made by this thread.
  bool forks(const Location& location, NodeId node,
             const std::map<NodeId, const Cell*>& by_node) const {
    const NodeId parent = tree_.nodes[node.value()].parent;
    if (!parent.defined()) return location.id == first_of(location.group);
    const auto caller = by_node.find(parent);
    return caller != by_node.end() && caller->second->statistics.visits != 0;
  }
  LocationId first_of(LocationGroupId group) const {
    return std::ranges::find(tree_.definitions.locations, group, &Location::group)->id;
  }

  OfProcess& sums_of(const Location& location, NodeId node) {
    return sums_[{tree_.nodes[node.value()].region, location.group}];
  }

  void add_parallel(const Location& location, const Cell& cell,
                    const std::map<NodeId, const Cell*>& by_node, double life) {
    OfProcess& sums = sums_of(location, cell.node);
    const double in_region = time(cell.statistics.inclusive);
    sums.threads[location.id].working += in_region;
    if (!forks(location, cell.node, by_node)) return;
    sums.forking[location.id] = true;
    sums.calls += cell.statistics.visits;
    sums.time += in_region;
    if (inside_[cell.node.value()].defined()) return;
    Forking& forking = forking_[location.id];
    forking.group = location.group.value();
    forking.in_parallel += in_region;
    forking.life = life;
  }

  // Tasks that run in a barrier are not waiting.
  void add_barrier(const Location& location, NodeId parallel, double waiting) {
    OfProcess::Thread& thread = sums_of(location, parallel).threads[location.id];
    thread.working -= waiting;
    thread.waiting += waiting;
  }

  void add_row(RegionId region, const OfProcess& process) {
    ParallelRow& row = rows_[region];
    row.region = region;
    row.calls += process.calls;
    row.time += process.time;
    row.threads = std::max(row.threads, process.team());
    double all = 0, longest = 0;
    for (const auto& [location, thread] : process.threads) {
      all += thread.working;
      longest = std::max(longest, thread.working);
      row.waiting += thread.waiting;
    }
    row.working += all;
    row.longest += longest;
    row.mean += all / static_cast<double>(process.threads.size());
    facts_.threads = std::max(facts_.threads, process.team());
    for (const auto& [location, forks] : process.forking) {
      const auto known = forking_.find(location);
      if (known == forking_.end()) continue;  // it forks only inside other regions
      known->second.team = std::max(known->second.team, process.team());
    }
  }

  void add_serial() {
    std::map<std::string, std::map<std::uint32_t, bool>> hosts;
    for (const auto& [location, one] : forking_) {
      const double outside = std::max(one.life - one.in_parallel, 0.0);
      facts_.parallel += one.in_parallel;
      facts_.serial += outside;
      facts_.idle += outside * static_cast<double>(one.team - 1);
      const auto& groups = tree_.definitions.groups;
      const bool known = one.group < groups.size();
      hosts[known ? groups[one.group].hostname : std::string()][one.group] = true;
    }
    for (const auto& [host, processes] : hosts) {
      facts_.processes = std::max<std::uint64_t>(facts_.processes, processes.size());
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
  std::vector<bool> parallel_;  // of nodes: it is a parallel region
  std::vector<NodeId> inside_;  // the innermost parallel region around it; undefined: none
  std::map<std::pair<RegionId, LocationGroupId>, OfProcess> sums_;
  std::map<RegionId, ParallelRow> rows_;
  std::map<LocationId, Forking> forking_;
  OpenMpFacts facts_;
};

}  // namespace

OpenMpFacts openmp_facts(const CallTree& tree) { return OpenMpSums(tree).facts(); }

}  // namespace timeloom::tools
