#include "weave/profiled_thread.hpp"

#include <algorithm>

namespace timeloom::weave {
namespace {

profile::Statistics statistics_of(const spool::ProfileNode& node, const WovenProcess& process,
                                  std::uint64_t& closed) {
  profile::Statistics result;
  result.visits = node.visits;
  result.inclusive = process.clock.duration(node.ticks);
  if (node.visits > (node.entered != 0 ? 1 : 0)) {
    result.min = process.clock.duration(node.shortest);
    result.max = process.clock.duration(node.longest);
  }
  if (node.entered == 0) return result;
  const Timestamp begin = process.clock.to_time(node.entered);
  const std::uint64_t open = ticks(std::max(process.end, begin)) - ticks(begin);
  result.inclusive += open;
  result.min = std::min(result.min, open);
  result.max = std::max(result.max, open);
  ++closed;
  return result;
}

// Counters of two cores may differ by a few ticks, so that a child seems to
// last longer than its parent.
void contain_children(std::vector<profile::FoldedNode>& nodes) {
  std::vector<std::uint64_t> children(nodes.size());
  for (std::size_t i = nodes.size() - 1; i > 0; --i) {
    profile::Statistics& own = nodes[i].statistics;
    own.inclusive = std::max(own.inclusive, children[i]);
    children[nodes[i].parent] += own.inclusive;
  }
}

}  // namespace

profile::FoldedLocation folded_of(const spool::ProfileData& data, const WovenProcess& process,
                                  std::uint64_t& closed) {
  profile::FoldedLocation result;
  result.first = process.clock.to_time(data.first);
  result.last = process.clock.to_time(std::max(data.first, data.last));
  result.nodes.emplace_back();
  for (const spool::ProfileNode& node : data.nodes) {
    const std::uint32_t region =
        node.region == spool::kBeyondLimit ? IdMap::kNone : process.ids.regions[node.region];
    profile::FoldedNode folded;
    folded.statistics = statistics_of(node, process, closed);
    folded.region = region == IdMap::kNone ? profile::kNoRegion : region;
    folded.parent = node.parent;
    result.nodes.push_back(folded);
    result.events += 2 * node.visits;
  }
  contain_children(result.nodes);
  return result;
}

}  // namespace timeloom::weave
