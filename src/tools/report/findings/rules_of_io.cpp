// Rules about reads and writes, in runs that record them (--io).

#include <algorithm>
#include <map>
#include <utility>

#include "core/io.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::uint64_t kManyTransfers = 1000;
constexpr std::uint64_t kSmallTransfer = 512;  // bytes on average: a buffer has 8 KiB and more
constexpr double kMuchTransferring = 0.15;     // of the wall time
constexpr double kLeastTransferring = 0.05;    // seconds

struct Transfers {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double time = 0;
};

using TransfersBy = std::map<std::pair<RegionId, bool>, Transfers>;  // by function; true: writes

// The innermost function of the project that reads or writes here.
RegionId project_function(const FoundIn& run, profile::NodeId node) {
  for (; node.defined(); node = run.tree.nodes[node.value()].parent) {
    const RegionId region = run.tree.nodes[node.value()].region;
    if (run.answer.owner().is_project(region)) return region;
  }
  return {};
}

void add_transfers(const FoundIn& run, const profile::LocationProfile& location, TransfersBy& all) {
  std::map<profile::NodeId, const profile::Statistics*> visits;
  for (const profile::Cell& cell : location.cells) visits[cell.node] = &cell.statistics;
  for (const profile::MetricCell& cell : location.metrics) {
    const std::string& metric = run.tree.definitions.metrics[cell.metric.value()].name;
    const bool write = metric == kIoBytesWritten;
    const auto calls = visits.find(cell.node);
    if ((!write && metric != kIoBytesRead) || calls == visits.end()) continue;
    const RegionId region = project_function(run, cell.node);
    if (!region.defined()) continue;
    Transfers& one = all[{region, write}];
    one.calls += calls->second->visits;
    one.bytes += static_cast<std::uint64_t>(cell.statistics.sum);
    one.time += seconds(calls->second->inclusive, run.tree.definitions);
  }
}

}  // namespace

void find_small_transfers(const FoundIn& run, Findings& findings) {
  TransfersBy all;
  for (const profile::LocationProfile& location : run.tree.locations) {
    add_transfers(run, location, all);
  }
  for (const auto& [key, one] : all) {
    if (one.calls < kManyTransfers || one.bytes / one.calls >= kSmallTransfer) continue;
    if (one.time < kMuchTransferring * run.wall || one.time < kLeastTransferring) continue;
    findings.push_back(
        {"small-transfers",
         formatted("{} {} of {} on average in {} take {}: use a buffer", count(one.calls),
                   key.second ? "writes" : "reads", bytes(one.bytes / one.calls),
                   printable(run.answer.region_name(key.first)),
                   duration(one.time, run.terminal, " ")),
         "report --io",
         one.time,
         {{"calls", static_cast<double>(one.calls)},
          {"bytes", static_cast<double>(one.bytes)},
          {"seconds", one.time}}});
  }
}

}  // namespace timeloom::tools
