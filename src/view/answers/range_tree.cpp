#include "view/answers/range_tree.hpp"

#include <algorithm>
#include <utility>

#include "core/regions/forked_region.hpp"
#include "core/run_properties.hpp"
#include "core/waiting_metric.hpp"
#include "profile/growing_calls.hpp"
#include "view/answers/range_table.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

namespace {

Definitions definitions_of_tree(const Index& index, const Definitions& definitions) {
  Definitions all = definitions;
  for (const auto& [name, value] : index.properties()) all.properties[name] = value;
  all.strings.clear();
  all.parameters.clear();
  all.metrics.clear();
  if (std::ranges::any_of(definitions.metrics, &Metric::is_waiting)) {
    all.metrics.push_back(waiting_metric());
    for (std::uint32_t i = 1; has_causes(definitions) && i < kWaitingCauses; ++i) {
      all.metrics.push_back(cause_metric(WaitingCause{i}));
    }
  }
  all.markers.clear();
  all.properties.erase(profile::kGrowingCalls);  // of the whole run
  all.properties.erase(kReachedDepth);  // applies to the run's profile; an index has every level
  return all;
}

// Adds the waiting of a call path. The metrics are, as in definitions_of_tree(), all waiting and
// then its causes in the order of their numbers.
void add_waiting(profile::LocationProfile& location, profile::NodeId node, const RangeSum& sum,
                 const Definitions& definitions) {
  const std::uint64_t of_ticks = std::max<std::uint64_t>(1, definitions.clock.ticks_per_second);
  const auto add = [&](std::uint32_t metric, std::uint64_t ticks) {
    if (ticks == 0 || metric >= definitions.metrics.size()) return;
    location.samples.push_back({MetricId{metric}, node, scaled(ticks, kNanoseconds, of_ticks)});
  };
  add(0, sum.waiting);
  for (std::uint32_t cause = 1; cause < kWaitingCauses; ++cause) add(cause, sum.causes[cause]);
}

// The paths with visits in pre-order, children in the order of their numbers.
std::vector<std::uint32_t> in_preorder(const Index& index, const std::vector<bool>& visited) {
  std::vector<std::vector<std::uint32_t>> children(visited.size() + 1);
  for (std::uint32_t path = 0; path < visited.size(); ++path) {
    const std::uint32_t parent = index.paths()[path].parent;
    if (visited[path]) children[parent == kNone ? visited.size() : parent].push_back(path);
  }
  std::vector<std::uint32_t> order, waiting(children.back().rbegin(), children.back().rend());
  while (!waiting.empty()) {
    const std::uint32_t path = waiting.back();
    waiting.pop_back();
    order.push_back(path);
    waiting.insert(waiting.end(), children[path].rbegin(), children[path].rend());
  }
  return order;
}

}  // namespace

profile::CallTree range_tree(const Index& index, const Definitions& definitions, std::uint64_t from,
                             std::uint64_t to) {
  using profile::NodeId;
  profile::CallTree tree;
  tree.definitions = definitions_of_tree(index, definitions);
  std::vector<bool> visited(index.paths().size());
  std::vector<std::vector<std::pair<std::uint32_t, RangeSum>>> sums;  // by location, then path
  for (std::uint32_t track = 0; track < index.tracks().size(); ++track) {
    const std::vector<std::uint32_t> one = {track};
    const RangeTable table = range_table(index, one, from, to);
    auto& of_track = sums.emplace_back();
    for (std::uint32_t path = 0; path < table.sums.size(); ++path) {
      if (table.sums[path].visits == 0) continue;
      // A call without duration may be in a range that does not contain its caller.
      for (std::uint32_t at = path; at != kNone && !visited[at]; at = index.paths()[at].parent) {
        visited[at] = true;
      }
      of_track.emplace_back(path, table.sums[path]);
    }
  }
  std::vector<NodeId> nodes(index.paths().size());
  for (const std::uint32_t path : in_preorder(index, visited)) {
    nodes[path] = NodeId{static_cast<std::uint32_t>(tree.nodes.size())};
    const std::uint32_t parent = index.paths()[path].parent;
    const NodeId above = parent == kNone ? NodeId{} : nodes[parent];
    const std::uint32_t depth = parent == kNone ? 0 : tree.nodes[above.value()].depth + 1;
    tree.nodes.push_back({above, RegionId{index.paths()[path].region}, depth});
  }
  const std::uint64_t begin = definitions.clock.begin;
  for (std::uint32_t track = 0; track < sums.size(); ++track) {
    const TrackRecord& record = index.tracks()[track];
    profile::LocationProfile location;
    location.first = Timestamp{begin + std::clamp(from, record.begin, record.end)};
    location.last = Timestamp{begin + std::clamp(to, record.begin, record.end)};
    for (const auto& [path, sum] : sums[track]) {
      const std::uint32_t region = index.paths()[path].region;
      const bool forked =
          region < definitions.regions.size() && is_forked(definitions.regions[region]);
      profile::Statistics statistics{sum.visits, sum.inclusive, sum.min, sum.max};
      if (forked) statistics = {.inclusive = sum.inclusive};  // the program has not called it
      location.cells.push_back({nodes[path], statistics});
      add_waiting(location, nodes[path], sum, tree.definitions);
    }
    std::ranges::sort(location.cells, {}, &profile::Cell::node);
    std::ranges::sort(location.samples, {}, [](const profile::SampleCell& one) {
      return std::pair(one.metric, one.node);
    });
    tree.locations.push_back(std::move(location));
  }
  return tree;
}

}  // namespace timeloom::view
