// Teams of threads in the fold of a location: the regions that it enters as a member of a team lie
// below the call path at which another thread forked the team.
#include <vector>

#include "profile/location_aggregator.hpp"

namespace timeloom::profile {

void LocationAggregator::team(const Event& event) {
  if (event.kind == EventKind::kTeamFork) {
    last_fork_ = event.value;
  } else if (event.kind == EventKind::kTeamBegin) {
    if (event.value != last_fork_) begin_team(event.value, ticks(event.time));
  } else if (in_team_frame() && teams_.back().number == event.value) {
    leave_team(ticks(event.time));
  }
}

void LocationAggregator::begin_team(std::uint64_t number, std::uint64_t time) {
  if (!definitions_->teams || !beyond_.empty()) return;
  const Teams::Team* team = definitions_->teams->team(number);
  if (team == nullptr) return;
  const std::vector<Teams::Path>& paths = definitions_->teams->paths;
  std::uint32_t path = team->path;
  while (paths[path].depth > limits_.max_depth) path = paths[path].parent;
  const std::uint32_t node = path == 0 ? 0 : twin_of(path);
  if (node == 0) return;
  if (++depth_ == stack_.size()) stack_.resize(2 * stack_.size());
  innermost() = {kNever, node};
  teams_.push_back({number, depth_, team_levels_, time});
  team_levels_ = paths[path].depth - depth_;
}

// The time in the team counts there alone: the visits around it are shorter by that time.
void LocationAggregator::leave_team(std::uint64_t time) {
  const OfTeam team = teams_.back();
  teams_.pop_back();
  --depth_;
  team_levels_ = team.levels_before;
  for (std::uint32_t i = 1; i <= depth_; ++i) {
    if (stack_[i].entered != kNever) stack_[i].entered += time - team.begun;
  }
  if (in_team_frame()) leave_team(time);  // its end is missing
}

// 0: there is no space.
std::uint32_t LocationAggregator::twin_of(std::uint32_t path) {
  const std::vector<Teams::Path>& paths = definitions_->teams->paths;
  std::vector<std::uint32_t> unknown;  // innermost first
  for (; path != 0 && twins_[path] == 0; path = paths[path].parent) unknown.push_back(path);
  std::uint32_t node = twins_[path];
  for (auto one = unknown.rbegin(); one != unknown.rend(); ++one) {
    if (!take_node()) return 0;
    node = twins_[*one] = add_twin(node, paths[*one]);
  }
  return node;
}

// The node, or behind it, as in with_value(), a node for each of its parameters.
std::uint32_t LocationAggregator::add_twin(std::uint32_t parent, const Teams::Path& path) {
  auto node = static_cast<std::uint32_t>(aggregated_.nodes.size());
  aggregated_.nodes.push_back({{}, path.region, parent, 0});
  for (const auto& [parameter, value] : path.parameters) {
    aggregated_.nodes.push_back({{}, path.region, parent, 0});
    aggregated_.parameters.push_back({node + 1, node, parameter, value});
    ++node;
  }
  return node;
}

void LocationAggregator::add_up_twins() {
  if (twins_.empty()) return;
  std::vector<bool> is_twin(aggregated_.nodes.size());
  for (const std::uint32_t node : twins_) is_twin[node] = node != 0;
  for (std::size_t i = aggregated_.nodes.size(); i-- > 1;) {
    const AggregatedNode& node = aggregated_.nodes[i];
    if (is_twin[node.parent]) {
      aggregated_.nodes[node.parent].statistics.inclusive += node.statistics.inclusive;
    }
  }
}

}  // namespace timeloom::profile
