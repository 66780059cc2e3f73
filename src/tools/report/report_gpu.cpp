#include "tools/report/report_gpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "exchange/names.hpp"
#include "tools/text/human_text.hpp"
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

std::optional<double> share_of_run(const Definitions& definitions, const char* key) {
  const std::uint64_t devices = number(definitions, kGpuDevices);
  if (devices == 0 || definitions.clock.length == 0 || !definitions.properties.contains(key)) {
    return std::nullopt;
  }
  const double length = static_cast<double>(definitions.clock.length) /
                        static_cast<double>(definitions.clock.ticks_per_second);
  const double seconds = static_cast<double>(number(definitions, key)) * 1e-9;
  return seconds / (length * static_cast<double>(devices));
}

// A row for each line of a property, up to the first one that `read` refuses: a file may hold any.
template <typename Row>
std::vector<Row> rows_of(const Definitions& definitions, const char* key,
                         bool (*read)(const Definitions&, std::istringstream& words, Row&)) {
  std::vector<Row> rows;
  const auto lines = definitions.properties.find(key);
  if (lines == definitions.properties.end()) return rows;
  std::istringstream text(lines->second);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    Row row;
    if (!read(definitions, words, row)) break;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string process_name(const Definitions& definitions, std::uint64_t group) {
  return group < definitions.groups.size() ? definitions.groups[group].name : std::string();
}

bool read_device(const Definitions& definitions, std::istringstream& words, GpuDeviceRow& row) {
  std::uint64_t group = 0;
  if (!(words >> group >> row.device >> row.works >> row.busy_ns >> row.waits_ns >> row.peak >>
        row.memory)) {
    return false;
  }
  row.process = process_name(definitions, group);
  words.ignore(1);
  std::getline(words, row.name);
  return true;
}

bool read_counter(const Definitions& definitions, std::istringstream& words, GpuCounterRow& row) {
  std::uint64_t group = 0, sum = 0;
  const bool whole(words >> group >> row.device >> row.values >> sum >> row.most >> row.counter);
  if (!whole || row.values == 0) return false;
  row.mean = static_cast<double>(sum) / static_cast<double>(row.values);
  row.process = process_name(definitions, group);
  const auto metric = std::ranges::find(definitions.metrics, row.counter, &Metric::name);
  if (metric != definitions.metrics.end()) row.unit = metric->unit;
  return true;
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
    facts.busy = share_of_run(tree_.definitions, kGpuBusy);
    facts.waits = share_of_run(tree_.definitions, kGpuWaits);
    facts.devices = rows_of(tree_.definitions, kGpuDeviceUses, read_device);
    facts.counters = rows_of(tree_.definitions, kGpuCounterSums, read_counter);
    facts.kernels = sorted(kernels_, &GpuWorkRow::ticks);
    facts.copies = sorted(copies_, &GpuWorkRow::ticks);
    facts.callers = sorted(callers_, &GpuCallerRow::gpu_ns);
    facts.ranges = sorted(ranges_, &GpuWorkRow::ticks);
    for (const auto& [around, by_what] : waits_) {
      for (const auto& [what, row] : by_what) facts.waiting.push_back(row);
    }
    sort(facts.waiting, &GpuWaitRow::ns);
    for (const auto& [started, row] : graphs_) facts.graphs.push_back(row);
    std::ranges::stable_sort(facts.graphs, std::greater<>(), &GpuGraphRow::gpu_ns);
    facts.idle = sorted(idle_, &GpuIdleRow::ns);
    facts.memory = sorted(memory_, &GpuMemoryRow::at_peak);
    for (const auto& [node, row] : paths_) facts.paths.push_back(row);
    std::uint64_t ns = 0;
    for (const GpuWaitRow& row : facts.waiting) ns += row.ns;
    // Traces of earlier versions have no times of waiting.
    facts.waiting_seconds = facts.waiting.empty()
                                ? static_cast<double>(waiting_) /
                                      static_cast<double>(tree_.definitions.clock.ticks_per_second)
                                : static_cast<double>(ns) * 1e-9;
    return facts;
  }

 private:
  // By time and then by name, since the order of regions differs from run to run.
  template <typename Row>
  std::vector<Row> sorted(const std::map<RegionId, Row>& rows, std::uint64_t Row::*by) const {
    std::vector<Row> all;
    for (const auto& [region, row] : rows) {
      all.push_back(row);
      all.back().region = region;
    }
    sort(all, by);
    return all;
  }
  template <typename Row>
  void sort(std::vector<Row>& rows, std::uint64_t Row::*by) const {
    std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
      return a.*by != b.*by ? a.*by > b.*by : name(a.region) < name(b.region);
    });
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
  // The row of work on a GPU, or of a range; nullptr: the region is of another kind.
  GpuWorkRow* work(const Node& of) {
    if (group(of) == kGpuKernels) return &kernels_[of.region];
    if (group(of) == kGpuRanges) return &ranges_[of.region];
    return group(of) == kGpuCopies ? &copies_[of.region] : nullptr;
  }
  // The function around a call.
  NodeId function(const Node& call) const {
    NodeId at = call.parent;
    while (at.defined() && group(node(at)) == kGpuCalls) at = node(at).parent;
    return at;
  }
  RegionId region(NodeId of) const { return of.defined() ? node(of).region : RegionId{}; }
  GpuCallerRow& caller(const Node& call) { return callers_[region(function(call))]; }
  GpuPathRow& path(NodeId of) {
    GpuPathRow& row = paths_[of];
    row.node = of;
    return row;
  }
  std::string parameter(const Node& call, const char* name) const {
    if (!call.parameters.defined()) return {};
    for (const profile::ParameterValue& one : tree_.parameter_sets[call.parameters.value()]) {
      if (one.name == name) return one.text;
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
    } else if (metric == kGpuIdleTime) {
      GpuIdleRow& idle = idle_[of.region];
      idle.ns += sum;
      idle.in_call = group(of) == kGpuCalls;
      if (!idle.in_call) path(cell.node).idle_ns += sum;
    } else if (group(of) == kGpuCalls) {
      add_of_call(metric, of, cell.statistics.count, sum);
    }
  }

  void add_of_call(const std::string& metric, const Node& call, std::uint64_t count,
                   std::uint64_t sum) {
    const NodeId around = function(call);
    if (metric == kGpuTime) {
      GpuCallerRow& by = caller(call);
      by.calls += count;
      by.gpu_ns += sum;
      const std::string started = parameter(call, kGpuStarted);
      started_[&by][started] += sum;
      if (started.starts_with(kGpuGraph)) {
        GpuGraphRow& graph = graphs_[started];
        graph = {started, graph.launches + count, graph.gpu_ns + sum};
      }
      path(around).starts += count;
      path(around).gpu_ns += sum;
    } else if (metric == kGpuWaitTime) {
      const std::string what = parameter(call, kGpuWaitsFor);
      GpuWaitRow& wait = waits_[region(around)][what];
      wait = {region(around), what, wait.times + count, wait.ns + sum};
      path(around).wait_ns += sum;
    } else if (metric == kGpuAllocated) {
      GpuMemoryRow& memory = memory_[region(around)];
      memory.calls += count;
      memory.allocated += sum;
      path(around).allocated += sum;
    } else if (metric == kGpuAtPeak) {
      memory_[region(around)].at_peak += sum;
      path(around).at_peak += sum;
    } else if (metric == kGpuAtEnd) {
      memory_[region(around)].at_end += sum;
    }
  }

  const CallTree& tree_;
  std::map<RegionId, GpuWorkRow> kernels_, copies_, ranges_;
  std::map<RegionId, GpuCallerRow> callers_;
  std::map<GpuCallerRow*, std::map<std::string, std::uint64_t>> started_;
  std::map<RegionId, std::map<std::string, GpuWaitRow>> waits_;
  std::map<std::string, GpuGraphRow> graphs_;
  std::map<RegionId, GpuIdleRow> idle_;
  std::map<RegionId, GpuMemoryRow> memory_;
  std::map<NodeId, GpuPathRow> paths_;
  std::uint64_t waiting_ = 0;
};

}  // namespace

std::string gpu_shares(const Definitions& definitions) {
  const auto busy = share_of_run(definitions, kGpuBusy);
  if (!busy) return {};
  const auto waits = share_of_run(definitions, kGpuWaits);
  return "GPU busy " + percent(*busy) +
         (waits ? ", waits for Python " + percent(*waits) : std::string());
}

GpuFacts gpu_facts(const CallTree& tree) {
  GpuSums sums(tree);
  for (const profile::LocationProfile& location : tree.locations) sums.add(location);
  return sums.facts();
}

}  // namespace timeloom::tools
