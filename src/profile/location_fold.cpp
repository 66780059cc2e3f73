#include "profile/location_fold.hpp"

#include "core/error.hpp"

namespace timeloom::profile {

namespace {
constexpr std::uint32_t kRestKey = UINT32_MAX;  // no region has this id, see child_of()
}

LocationFold::LocationFold(std::string location_name, std::size_t regions, std::uint32_t own_nodes,
                           NodeBudget& budget)
    : location_name_(std::move(location_name)),
      regions_(regions),
      own_nodes_(own_nodes),
      budget_(&budget) {
  folded_.nodes.emplace_back();
  stack_.push_back({0, 0});
}

void LocationFold::consume(std::span<const Event> events) {
  if (events.empty()) return;
  if (folded_.events == 0) folded_.first = events.front().time;
  for (const Event& event : events) {
    if (event.kind == EventKind::kEnter) {
      enter(event.ref, ticks(event.time));
    } else if (event.kind == EventKind::kLeave) {
      leave(event.ref, ticks(event.time));
    }
  }
  folded_.events += events.size();
  folded_.last = events.back().time;
}

inline void LocationFold::enter(std::uint32_t region, std::uint64_t time) {
  const std::uint32_t node = stack_.back().node;
  std::uint32_t child = folded_.nodes[node].last_child;
  if (folded_.nodes[child].region != region) [[unlikely]] {
    child = child_of(node, region);
    folded_.nodes[node].last_child = child;
  }
  stack_.push_back({time, child});
}

inline void LocationFold::leave(std::uint32_t region, std::uint64_t time) {
  const Frame frame = stack_.back();
  if (folded_.nodes[frame.node].region != region || time < frame.entered) [[unlikely]] {
    check_leave(region, time);
  }
  stack_.pop_back();
  // Beyond the limit a node is its own child; only the outermost visit counts.
  if (stack_.back().node != frame.node) [[likely]] {
    folded_.nodes[frame.node].statistics.add_visit(time - frame.entered);
  }
}

std::uint32_t LocationFold::child_of(std::uint32_t node, std::uint32_t region) {
  if (region >= regions_) fail("enters region " + std::to_string(region) + ", which is undefined");
  if (beyond_limit(node)) return node;
  const std::uint32_t child = children_.find(node, region);
  if (child != ChildTable::kNone) return child;
  if (take_node()) return add_child(node, region);
  const std::uint32_t rest = children_.find(node, kRestKey);
  return rest != ChildTable::kNone ? rest : add_child(node, kNoRegion);
}

bool LocationFold::take_node() noexcept {
  if (own_nodes_ == 0) return budget_->take();
  --own_nodes_;
  return true;
}

std::uint32_t LocationFold::add_child(std::uint32_t node, std::uint64_t region) {
  const auto child = static_cast<std::uint32_t>(folded_.nodes.size());
  folded_.nodes.push_back({{}, region, node, 0});
  children_.insert(node, region == kNoRegion ? kRestKey : static_cast<std::uint32_t>(region),
                   child);
  return child;
}

void LocationFold::check_leave(std::uint32_t region, std::uint64_t time) const {
  const Frame frame = stack_.back();
  if (stack_.size() == 1) fail("leaves region " + std::to_string(region) + " without an enter");
  if (time < frame.entered)
    fail("leaves region " + std::to_string(region) + " before it enters it");
  if (!beyond_limit(frame.node)) {
    fail("leaves region " + std::to_string(region) + " while it is in region " +
         std::to_string(folded_.nodes[frame.node].region));
  }
}

void LocationFold::fail(const std::string& what) const {
  throw Error("damaged trace: location '" + location_name_ + "' " + what);
}

FoldedLocation LocationFold::finish() {
  if (stack_.size() > 1)
    fail("ends inside region " + std::to_string(folded_.nodes[stack_.back().node].region));
  return std::move(folded_);
}

}  // namespace timeloom::profile
