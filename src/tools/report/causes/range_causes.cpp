#include "tools/report/causes/range_causes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/waiting_metric.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::NodeId;

constexpr std::uint32_t kNoNode = NodeId{}.value();

// The node of each call path of regions.
class NodesByPath {
 public:
  explicit NodesByPath(const CallTree& tree) {
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
      const profile::Node& node = tree.nodes[i];
      if (node.region.defined()) nodes_.try_emplace({node.parent, node.region}, i);
    }
  }
  // kNoNode: it is not in the tree. `parent`, undefined: above the roots.
  std::uint32_t child(NodeId parent, RegionId region) const {
    const auto found = nodes_.find({parent, region});
    return found == nodes_.end() ? kNoNode : found->second;
  }

 private:
  std::map<std::pair<NodeId, RegionId>, std::uint32_t> nodes_;
};

// Nanoseconds by the number of the cause and the node.
using Causes = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

class CausesOfLocation : public LocationSink {
 public:
  CausesOfLocation(const NodesByPath& nodes, std::uint64_t from, std::uint64_t to, Causes& causes)
      : nodes_(nodes), from_(from), to_(to), causes_(causes) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) take(event);
  }
  void finish() override {}

 private:
  void take(const Event& event) {
    const std::uint64_t time = ticks(event.time);
    if (event.kind == EventKind::kWaiting) return waited(event, time);
    if (event.kind == EventKind::kEnter) enter(event.region());
    if (event.kind == EventKind::kLeave && !path_.empty()) path_.pop_back();
    if (!is_no_event(event.kind)) last_ = time;
  }

  void enter(RegionId region) {
    const bool inside = path_.empty() || path_.back() != kNoNode;
    const NodeId parent = path_.empty() ? NodeId{} : NodeId{path_.back()};
    path_.push_back(inside ? nodes_.child(parent, region) : kNoNode);
  }

  void waited(const Event& event, std::uint64_t end) {
    const std::uint64_t begin = std::max(last_, from_), until = std::min(end, to_);
    if (begin >= until || path_.empty() || path_.back() == kNoNode) return;
    if (event.ref == 0 || event.ref >= kWaitingCauses) return;
    const double share = static_cast<double>(until - begin) / static_cast<double>(end - last_);
    causes_[{event.ref, path_.back()}] += share * static_cast<double>(event.value);
  }

  const NodesByPath& nodes_;
  const std::uint64_t from_, to_;
  Causes& causes_;
  std::vector<std::uint32_t> path_;
  std::uint64_t last_ = 0;
};

class CausesOfRun : public RunSink {
 public:
  CausesOfRun(const CallTree& tree, std::uint64_t from, std::uint64_t to)
      : nodes_(tree), from_(from), to_(to) {}

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<CausesOfLocation>(nodes_, from_, to_, causes_[location.id]);
  }
  void finish() override {}

  const std::map<LocationId, Causes>& causes() const { return causes_; }

 private:
  const NodesByPath nodes_;
  const std::uint64_t from_, to_;
  std::mutex mutex_;  // guards the map, not its values
  std::map<LocationId, Causes> causes_;
};

}  // namespace

void add_causes_between(CallTree& tree, RunSource& run, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t begin = run.definitions().clock.begin;
  CausesOfRun sink(tree, begin + from, to > UINT64_MAX - begin ? UINT64_MAX : begin + to);
  const std::array<RunSink*, 1> sinks = {&sink};
  run.replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Metric>& metrics = tree.definitions.metrics;
  const auto first = static_cast<std::uint32_t>(metrics.size());
  for (std::uint32_t i = 1; i < kWaitingCauses; ++i) {
    metrics.push_back(cause_metric(WaitingCause{i}));
  }
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const auto found = sink.causes().find(tree.definitions.locations[i].id);
    if (found == sink.causes().end()) continue;
    for (const auto& [key, nanoseconds] : found->second) {
      tree.locations[i].samples.push_back({MetricId{first + key.first - 1}, NodeId{key.second},
                                           static_cast<std::uint64_t>(nanoseconds)});
    }
  }
}

}  // namespace timeloom::tools
