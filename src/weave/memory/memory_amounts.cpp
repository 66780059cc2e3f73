#include "weave/memory/memory_amounts.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace timeloom::weave {
namespace {

using profile::CallTree;
using profile::MetricCell;
using profile::MetricStatistics;
using profile::NodeId;

// Finds call paths in a tree.
class TreePaths {
 public:
  explicit TreePaths(const CallTree& tree) {
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
      const profile::Node& node = tree.nodes[i];
      if (!node.region.defined()) continue;
      // Visits with parameters come after those without.
      children_.try_emplace({parent_key(node.parent), node.region.value()}, i);
    }
  }
  // The node of each path. Undefined: not even its first region is there.
  std::vector<NodeId> find(const std::vector<MemoryOfPath>& paths) const {
    std::vector<NodeId> nodes(paths.size());
    std::vector<bool> cut(paths.size());  // the path goes on where the tree does not
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!paths[i].region.defined()) continue;
      const std::size_t parent = paths[i].parent;
      const auto child = children_.find({parent_key(nodes[parent]), paths[i].region.value()});
      cut[i] = cut[parent] || child == children_.end();
      nodes[i] = cut[i] ? nodes[parent] : NodeId{child->second};
    }
    return nodes;
  }

 private:
  static std::uint64_t parent_key(NodeId id) { return id.defined() ? id.value() : UINT64_MAX; }
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> children_;
};

MetricId add_metric(CallTree& tree, const char* name) {
  auto& metrics = tree.definitions.metrics;
  Metric metric;
  metric.name = name;
  metric.unit = "bytes";
  metric.type = MetricValueType::kUint64;
  metric.source = MetricSource::kOther;
  metrics.push_back(std::move(metric));
  return MetricId{static_cast<std::uint32_t>(metrics.size() - 1)};
}

}  // namespace

double bytes_of(const spool::MemoryBlock& birth, std::uint64_t interval) {
  const double chance = birth.is_whole() ? 1 : spool::sampling_chance(birth.bytes, interval);
  return static_cast<double>(birth.bytes) / chance;
}

std::vector<MetricStatistics> held_after(const spool::MemoryData& data, std::uint64_t length) {
  std::vector<bool> dead(data.blocks.size());
  for (std::uint64_t i = 0; i < length; ++i) {
    if (data.blocks[i].is_death()) dead[data.blocks[i].number()] = true;
  }
  std::vector<MetricStatistics> held(data.paths.size());
  for (std::uint64_t i = 0; i < length; ++i) {
    const spool::MemoryBlock& block = data.blocks[i];
    if (block.is_death() || dead[i] || block.bytes == 0) continue;
    held[block.number()].add_value(bytes_of(block, data.interval));
  }
  return held;
}

std::vector<MetricStatistics> temporary_blocks(const spool::MemoryData& data,
                                               const ProcessClock& clock) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  const auto time = [&](std::uint64_t at) { return timeloom::ticks(clock.to_time(at)); };
  std::vector<MetricStatistics> sums(data.paths.size());
  for (const spool::MemoryBlock& death : data.blocks) {
    if (!death.is_death()) continue;
    const spool::MemoryBlock& birth = data.blocks[death.number()];
    if (birth.is_death() || birth.bytes == 0) continue;
    if (time(death.ticks) > time(birth.ticks) + kMillisecond) continue;
    sums[birth.number()].add_value(bytes_of(birth, data.interval));
  }
  return sums;
}

void add_memory(CallTree& tree, const std::vector<MemoryOfPath>& paths) {
  const std::vector<NodeId> nodes = TreePaths(tree).find(paths);
  const std::pair<const char*, MetricStatistics MemoryOfPath::*> metrics[] = {
      {kBytesAllocated, &MemoryOfPath::allocated},
      {kBytesFreed, &MemoryOfPath::freed},
      {kBytesAtPeak, &MemoryOfPath::at_peak},
      {kBytesHeld, &MemoryOfPath::at_end},
      {kBytesTemporary, &MemoryOfPath::temporary},
      {kMaximumHeap, &MemoryOfPath::heap},
      {kPythonAllocated, &MemoryOfPath::python_allocated},
      {kPythonFreed, &MemoryOfPath::python_freed}};
  const bool python = std::ranges::any_of(
      paths, [](const MemoryOfPath& path) { return path.python_allocated.count != 0; });
  for (const auto& [name, member] : metrics) {
    const bool of_python =
        member == &MemoryOfPath::python_allocated || member == &MemoryOfPath::python_freed;
    if (of_python && !python) continue;
    const MetricId metric = add_metric(tree, name);
    std::map<std::pair<LocationId, NodeId>, MetricStatistics> sums;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (nodes[i].defined()) sums[{paths[i].location, nodes[i]}].add(paths[i].*member);
    }
    std::erase_if(sums, [](const auto& sum) { return sum.second.count == 0; });
    for (std::size_t i = 0; i < tree.locations.size(); ++i) {
      const LocationId id = tree.definitions.locations[i].id;
      for (auto sum = sums.lower_bound({id, NodeId{0}});
           sum != sums.end() && sum->first.first == id; ++sum) {
        tree.locations[i].metrics.push_back({metric, sum->first.second, sum->second});
      }
    }
  }
}

void CommonPeak::add(std::uint64_t time, std::size_t process, std::uint64_t live) {
  steps_.push_back({time, process, live});
}

ProcessMemory CommonPeak::find() {
  std::ranges::stable_sort(steps_, {}, &Step::time);
  std::map<std::size_t, std::uint64_t> live;
  ProcessMemory most;
  std::uint64_t sum = 0;
  for (const Step& step : steps_) {
    std::uint64_t& of_process = live[step.process];
    sum += step.live - of_process;
    of_process = step.live;
    if (sum <= most.peak) continue;
    most.peak = sum;
    most.peak_time = step.time;
  }
  return most;
}

}  // namespace timeloom::weave
