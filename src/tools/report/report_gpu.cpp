#include "tools/report/report_gpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "exchange/names.hpp"
#include "weave/gpu/gpu_names.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Node;
using profile::NodeId;

std::uint64_t number(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  return found == definitions.properties.end() ? 0
                                               : std::strtoull(found->second.c_str(), nullptr, 10);
}

// Adds up what locations have, by region.
class GpuSums {
 public:
  explicit GpuSums(const CallTree& tree) : tree_(tree) {}

  void add(const profile::LocationProfile& location) {
    for (const profile::Cell& cell : location.cells) add(cell);
    for (const profile::MetricCell& cell : location.metrics) add(cell);
  }
  GpuFacts facts() {
    find_most();
    GpuFacts facts;
    facts.busy = gpu_busy(tree_.definitions);
    facts.kernels = sorted(kernels_, &GpuWorkRow::ticks);
    facts.copies = sorted(copies_, &GpuWorkRow::ticks);
    facts.callers = sorted(callers_, &GpuCallerRow::gpu_ns);
    facts.waiting_ticks = waiting_;
    return facts;
  }

 private:
  // By time and, as the order of regions is that of a run, by name.
  template <typename Row>
  std::vector<Row> sorted(const std::map<RegionId, Row>& rows, std::uint64_t Row::*by) const {
    std::vector<Row> all;
    for (const auto& [region, row] : rows) {
      all.push_back(row);
      all.back().region = region;
    }
    std::ranges::stable_sort(all, [&](const Row& a, const Row& b) {
      return a.*by != b.*by ? a.*by > b.*by : name(a.region) < name(b.region);
    });
    return all;
  }
  std::string name(RegionId region) const {
    return region.defined() ? exchange::region_name(tree_.definitions, region) : std::string();
  }
  // Of names with the same time the first one.
  void find_most() {
    for (const auto& [row, names] : started_) {
      const auto most =
          std::ranges::max_element(names, {}, [](const auto& one) { return one.second; });
      row->most = most->first;
      row->most_ns = most->second;
    }
  }

  const Node& node(NodeId id) const { return tree_.nodes[id.value()]; }
  const std::string& group(const Node& of) const {
    static const std::string kNone;
    return of.region.defined() ? tree_.definitions.regions[of.region.value()].group : kNone;
  }
  // The rows of what ran on a GPU; nullptr: the region is of another kind.
  GpuWorkRow* work(const Node& of) {
    if (group(of) == kGpuKernels) return &kernels_[of.region];
    return group(of) == kGpuCopies ? &copies_[of.region] : nullptr;
  }
  // The function around a call.
  GpuCallerRow& caller(const Node& call) {
    NodeId at = call.parent;
    while (at.defined() && group(node(at)) == kGpuCalls) at = node(at).parent;
    return callers_[at.defined() ? node(at).region : RegionId{}];
  }
  std::string started(const Node& call) const {
    if (!call.parameters.defined()) return {};
    for (const profile::ParameterValue& one : tree_.parameter_sets[call.parameters.value()]) {
      if (one.name == kGpuStarted) return one.text;
    }
    return {};
  }

  void add(const profile::Cell& cell) {
    const Node& of = node(cell.node);
    if (GpuWorkRow* const row = work(of)) {
      row->times += cell.statistics.visits;
      row->ticks += cell.statistics.inclusive;
    } else if (group(of) == kGpuCalls) {
      const bool inside = of.parent.defined() && group(node(of.parent)) == kGpuCalls;
      if (!inside) caller(of).call_ticks += cell.statistics.inclusive;
      const Region& region = tree_.definitions.regions[of.region.value()];
      if (!inside && region.role == RegionRole::kBarrier) waiting_ += cell.statistics.inclusive;
    }
  }

  void add(const profile::MetricCell& cell) {
    const std::string& metric = tree_.definitions.metrics[cell.metric.value()].name;
    const Node& of = node(cell.node);
    const auto sum = static_cast<std::uint64_t>(cell.statistics.sum);
    if (GpuWorkRow* const row = work(of)) {
      if (metric == kGpuBytes) row->bytes += sum;
      if (metric != kGpuQueueTime) return;
      row->queue_ns += sum;
      row->queued += cell.statistics.count;
    } else if (group(of) == kGpuCalls && metric == kGpuTime) {
      GpuCallerRow& by = caller(of);
      by.calls += cell.statistics.count;
      by.gpu_ns += sum;
      started_[&by][started(of)] += sum;
    }
  }

  const CallTree& tree_;
  std::map<RegionId, GpuWorkRow> kernels_, copies_;
  std::map<RegionId, GpuCallerRow> callers_;
  std::map<GpuCallerRow*, std::map<std::string, std::uint64_t>> started_;
  std::uint64_t waiting_ = 0;
};

}  // namespace

std::optional<double> gpu_busy(const Definitions& definitions) {
  const std::uint64_t devices = number(definitions, kGpuDevices);
  if (devices == 0 || definitions.clock.length == 0) return std::nullopt;
  const double length = static_cast<double>(definitions.clock.length) /
                        static_cast<double>(definitions.clock.ticks_per_second);
  const double busy = static_cast<double>(number(definitions, kGpuBusy)) * 1e-9;
  return busy / (length * static_cast<double>(devices));
}

GpuFacts gpu_facts(const CallTree& tree) {
  GpuSums sums(tree);
  for (const profile::LocationProfile& location : tree.locations) sums.add(location);
  return sums.facts();
}

}  // namespace timeloom::tools
