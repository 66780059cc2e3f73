#include "tools/report/mpi/report_mpi.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "exchange/names.hpp"

namespace timeloom::tools {
namespace {

constexpr std::size_t kMostMpiRows = 1000;  // of call paths and functions

// Ticks, by process.
using Times = std::vector<std::uint64_t>;

struct MpiSums {
  std::uint64_t visits = 0;
  Times times;
};

class Aggregator {
 public:
  explicit Aggregator(const profile::CallTree& tree)
      : tree_(tree), all_(tree.definitions), processes_(all_.groups.size()) {
    total = in_mpi = empty();
    is_mpi_ = paths_in_mpi(tree);
  }

  void aggregate() {
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      const std::uint32_t process = all_.locations[i].group.value();
      if (process >= processes_) continue;
      std::vector<std::uint64_t> own(tree_.nodes.size());
      for (const profile::Cell& cell : tree_.locations[i].cells) {
        const std::uint32_t node = cell.node.value();
        own[node] += cell.statistics.inclusive;
        const profile::NodeId parent = tree_.nodes[node].parent;
        if (parent.defined()) own[parent.value()] -= cell.statistics.inclusive;
        if (!parent.defined()) add(total, process, cell.statistics.inclusive);
      }
      for (const profile::Cell& cell : tree_.locations[i].cells) {
        add_cell(cell, own[cell.node.value()], process);
      }
      for (const profile::MetricCell& cell : tree_.locations[i].metrics) add_bytes(cell);
    }
  }

  Spread spread(const Times& times) const {
    Spread result;
    result.processes = processes_;
    if (processes_ == 0) return result;
    const double tick = 1.0 / static_cast<double>(all_.clock.ticks_per_second);
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    double sum = 0;
    for (const std::uint64_t time : times) sum += static_cast<double>(time) * tick;
    result.least = static_cast<double>(*least) * tick;
    result.most = static_cast<double>(*most) * tick;
    result.mean = sum / static_cast<double>(processes_);
    result.process = static_cast<std::uint32_t>(most - times.begin());
    return result;
  }

  std::vector<MpiRow> rows(const std::map<std::string, MpiSums>& sums) const {
    std::vector<MpiRow> result;
    for (const auto& [name, one] : sums) result.push_back({name, one.visits, spread(one.times)});
    std::ranges::stable_sort(result, std::ranges::greater(),
                             [](const MpiRow& row) { return row.time.mean; });
    if (result.size() > kMostMpiRows) result.resize(kMostMpiRows);
    return result;
  }

  std::vector<MovedRow> moved_rows() const {
    std::vector<MovedRow> result;
    for (const auto& [name, row] : moved_) result.push_back(row);
    std::ranges::stable_sort(result, std::ranges::greater(),
                             [](const MovedRow& row) { return row.out() + row.in(); });
    return result;
  }

  Times empty() const { return Times(processes_); }
  Times total, in_mpi;
  std::map<std::string, MpiSums> functions, callers, others;

 private:
  static void add(Times& times, std::uint32_t process, std::uint64_t time) {
    times[process] += time;
  }

  void add(std::map<std::string, MpiSums>& sums, const std::string& name, const profile::Cell& cell,
           std::uint32_t process, std::uint64_t time) {
    MpiSums& one = sums[name];
    if (one.times.empty()) one.times = empty();
    one.visits += cell.statistics.visits;
    one.times[process] += time;
  }

  void add_cell(const profile::Cell& cell, std::uint64_t own, std::uint32_t process) {
    const std::uint32_t node = cell.node.value();
    const profile::Node& path = tree_.nodes[node];
    if (!is_mpi_[node]) {
      if (path.region.defined())
        add(others, exchange::region_name(all_, path.region), cell, process, own);
      return;
    }
    if (path.parent.defined() && is_mpi_[path.parent.value()]) return;  // called by MPI
    const std::uint64_t time = cell.statistics.inclusive;
    add(in_mpi, process, time);
    add(functions, exchange::region_name(all_, path.region), cell, process, time);
    add(callers, path_to(path.parent), cell, process, time);
  }

  // Of functions of MPI alone, not of functions of the system that these call.
  void add_bytes(const profile::MetricCell& cell) {
    const RegionId region = tree_.nodes[cell.node.value()].region;
    const auto metric =
        std::ranges::find(kMovedBytes, std::string_view(all_.metrics[cell.metric.value()].name));
    if (metric == kMovedBytes.end() || !region.defined()) return;
    if (all_.regions[region.value()].paradigm != Paradigm::kMpi) return;
    MovedRow& row = moved_[exchange::region_name(all_, region)];
    row.name = exchange::region_name(all_, region);
    row.bytes[static_cast<std::size_t>(metric - kMovedBytes.begin())] +=
        static_cast<std::uint64_t>(cell.statistics.sum);
  }

  // "main > exchange", of the innermost regions.
  std::string path_to(profile::NodeId node) const {
    constexpr int kMost = 4;
    std::string path;
    for (int i = 0; node.defined(); ++i, node = tree_.nodes[node.value()].parent) {
      if (i == kMost) return "... > " + path;
      const RegionId region = tree_.nodes[node.value()].region;
      const std::string name =
          region.defined() ? exchange::region_name(all_, region) : std::string("...");
      path = path.empty() ? name : name + " > " + path;
    }
    return path.empty() ? "(no function)" : path;
  }

  const profile::CallTree& tree_;
  const Definitions& all_;
  const std::size_t processes_;
  std::vector<bool> is_mpi_;
  std::map<std::string, MovedRow> moved_;  // by function
};

}  // namespace

MpiFacts mpi_facts(const profile::CallTree& tree, const profile::MessageSummary& messages) {
  Aggregator aggregator(tree);
  aggregator.aggregate();
  MpiFacts facts;
  for (const LocationGroup& group : tree.definitions.groups) facts.processes.push_back(group.name);
  facts.tick_seconds = 1.0 / static_cast<double>(tree.definitions.clock.ticks_per_second);
  facts.messages = messages;
  Times outside = aggregator.total;
  for (std::size_t i = 0; i < outside.size(); ++i) {
    outside[i] -= std::min(outside[i], aggregator.in_mpi[i]);
  }
  facts.in_mpi = aggregator.spread(aggregator.in_mpi);
  facts.outside = aggregator.spread(outside);
  facts.total = aggregator.spread(aggregator.total).sum();
  facts.efficiency = mpi_efficiency(tree, messages);
  facts.functions = aggregator.rows(aggregator.functions);
  facts.callers = aggregator.rows(aggregator.callers);
  facts.balance = aggregator.rows(aggregator.others);
  facts.moved = aggregator.moved_rows();
  return facts;
}

}  // namespace timeloom::tools
