#include "tools/report/mpi/mpi_efficiency.hpp"

#include <algorithm>
#include <map>

namespace timeloom::tools {
namespace {

// Ticks of one thread.
struct EfficiencyTimes {
  std::uint64_t in_mpi = 0, all = 0, first = 0, last = 0;
};

EfficiencyTimes times_of(const profile::CallTree& tree, const profile::LocationProfile& location,
                         const std::vector<bool>& in_mpi) {
  EfficiencyTimes times;
  times.first = ticks(location.first);
  times.last = ticks(location.last);
  for (const profile::Cell& cell : location.cells) {
    const profile::NodeId parent = tree.nodes[cell.node.value()].parent;
    const std::uint64_t time = cell.statistics.inclusive;
    if (!parent.defined()) times.all += time;
    const bool inside = in_mpi[cell.node.value()];
    if (inside && !(parent.defined() && in_mpi[parent.value()])) times.in_mpi += time;
  }
  return times;
}

// By process: the thread that is in MPI for longest.
std::map<std::uint32_t, EfficiencyTimes> threads_of_mpi(const profile::CallTree& tree) {
  const std::vector<bool> in_mpi = paths_in_mpi(tree);
  std::map<std::uint32_t, EfficiencyTimes> threads;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const EfficiencyTimes times = times_of(tree, tree.locations[i], in_mpi);
    EfficiencyTimes& chosen = threads[tree.definitions.locations[i].group.value()];
    if (times.in_mpi > chosen.in_mpi) chosen = times;
  }
  std::erase_if(threads, [](const auto& one) { return one.second.in_mpi == 0; });
  return threads;
}

// For a profile without times of its start and end: the longest time of a process.
std::uint64_t runtime_of(const std::map<std::uint32_t, EfficiencyTimes>& threads) {
  std::uint64_t first = UINT64_MAX, last = 0, longest = 0;
  for (const auto& [process, times] : threads) {
    first = std::min(first, times.first);
    last = std::max(last, times.last);
    longest = std::max(longest, times.all);
  }
  return std::max(last - std::min(first, last), longest);
}

}  // namespace

std::vector<bool> paths_in_mpi(const profile::CallTree& tree) {
  std::vector<bool> result(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    result[i] = (node.parent.defined() && result[node.parent.value()]) ||
                (node.region.defined() &&
                 tree.definitions.regions[node.region.value()].paradigm == Paradigm::kMpi);
  }
  return result;
}

std::optional<MpiEfficiency> mpi_efficiency(const profile::CallTree& tree,
                                            const profile::MessageSummary& messages) {
  const std::map<std::uint32_t, EfficiencyTimes> threads = threads_of_mpi(tree);
  if (threads.empty()) return std::nullopt;
  const double tick = 1.0 / static_cast<double>(tree.definitions.clock.ticks_per_second);
  MpiEfficiency result;
  result.processes = threads.size();
  result.runtime = static_cast<double>(runtime_of(threads)) * tick;
  for (const auto& [process, times] : threads) {
    const double work = static_cast<double>(times.all - std::min(times.all, times.in_mpi)) * tick;
    result.mean_work += work / static_cast<double>(threads.size());
    if (work > result.most_work) {
      result.most_work = work;
      result.busiest = process;
    }
  }
  if (result.most_work > 0) result.load_balance = result.mean_work / result.most_work;
  if (result.runtime > 0) result.communication = result.most_work / result.runtime;
  if (!messages.ideal_runtime || *messages.ideal_runtime == 0) return result;
  result.ideal_runtime = static_cast<double>(*messages.ideal_runtime) * tick;
  result.serialisation = result.most_work / *result.ideal_runtime;
  result.transfer = *result.ideal_runtime / result.runtime;
  return result;
}

}  // namespace timeloom::tools
