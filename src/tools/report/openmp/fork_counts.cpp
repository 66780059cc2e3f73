#include "tools/report/openmp/fork_counts.hpp"

#include <algorithm>

#include "core/teams/openmp_metrics.hpp"

namespace timeloom::tools {

using profile::Cell;
using profile::MetricCell;

// A thread that forks a team has each of these metrics once for it.
ForkCounts::ForkCounts(const profile::CallTree& tree) : tree_(tree) {
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const Location& location = tree.definitions.locations[i];
    for (const MetricCell& cell : tree.locations[i].metrics) {
      const std::string& name = tree.definitions.metrics[cell.metric.value()].name;
      if (cell.statistics.count == 0 || (name != kOpenMpTeam && name != kOpenMpFork)) continue;
      std::uint64_t& count = recorded_[{cell.node, location.id}];
      count = std::max(count, cell.statistics.count);
      known_.insert({cell.node, location.group});
    }
  }
}

// Where no metrics were recorded: the calls around a region that another thread has forked were not
// made by this thread, and a region that nothing is around was forked by the first thread.
std::uint64_t ForkCounts::of(const Location& location, const Cell& cell, const Cell* caller) const {
  const std::uint64_t visits = cell.statistics.visits;
  if (known_.contains({cell.node, location.group})) {
    const auto found = recorded_.find({cell.node, location.id});
    return found == recorded_.end() ? 0 : std::min(found->second, visits);
  }
  const bool outermost = !tree_.nodes[cell.node.value()].parent.defined();
  const bool forks =
      outermost ? is_first(location) : caller != nullptr && caller->statistics.visits != 0;
  return forks ? visits : 0;
}

bool ForkCounts::is_first(const Location& location) const {
  const auto& all = tree_.definitions.locations;
  return std::ranges::find(all, location.group, &Location::group)->id == location.id;
}

}  // namespace timeloom::tools
