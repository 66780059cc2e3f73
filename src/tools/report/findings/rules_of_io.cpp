// Rules about reads and writes, in runs that record them (--io).

#include <algorithm>
#include <map>
#include <utility>

#include "core/io.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::uint64_t kManyTransfers = 1000;
constexpr std::uint64_t kSmallTransfer = 512;  // bytes on average: a buffer has 8 KiB and more
constexpr double kMuchTransferring = 0.15;     // of the wall time, or of the work if that is less
constexpr double kLeastTransferring = 0.05;    // seconds

struct Transfers {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double time = 0;  // of work
};

using TransfersBy = std::map<std::pair<RegionId, bool>, Transfers>;  // by function; true: writes

// The transfers of one thread, by the innermost function of the project, which may be a caller. The
// time is work, since a read may wait for data that is not there yet.
TransfersBy transfers_on(const FoundIn& run, const WorkerTimes& thread) {
  TransfersBy all;
  const profile::LocationProfile& profile = run.tree.locations[thread.location];
  std::map<profile::NodeId, std::uint64_t> visits;
  for (const profile::Cell& cell : profile.cells) visits[cell.node] = cell.statistics.visits;
  std::map<profile::NodeId, Transfers*> found;
  for (const profile::MetricCell& cell : profile.metrics) {
    const std::string& metric = run.tree.definitions.metrics[cell.metric.value()].name;
    const bool write = metric == kIoBytesWritten;
    const auto calls = visits.find(cell.node);
    if ((!write && metric != kIoBytesRead) || calls == visits.end()) continue;
    const RegionId region = region_at(run.tree, run.paths[cell.node.value()].innermost);
    if (!region.defined()) continue;
    Transfers& one = all[{region, write}];
    one.calls += calls->second;
    one.bytes += static_cast<std::uint64_t>(cell.statistics.sum);
    found[cell.node] = &one;
  }
  for (const PathTime& path : thread.paths) {
    const auto one = found.find(path.node);
    if (one != found.end()) one->second->time += path.working;
  }
  return all;
}

}  // namespace

void find_small_transfers(const FoundIn& run, Findings& findings) {
  const double much = kMuchTransferring * std::min(run.wall, run.answer.times().all_working);
  for (const WorkerTimes& thread : run.locations) {
    for (const auto& [key, one] : transfers_on(run, thread)) {
      if (one.calls < kManyTransfers || one.bytes / one.calls >= kSmallTransfer) continue;
      if (one.time < much || one.time < kLeastTransferring) continue;
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
            {"working_s", one.time}}});
    }
  }
}

}  // namespace timeloom::tools
