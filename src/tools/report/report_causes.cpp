#include "tools/report/report_causes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "tools/report/suspensions.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

// The causes that were seen, by node.
std::vector<CauseTimes> seen_causes(const profile::CallTree& tree,
                                    const profile::LocationFilter& filter) {
  std::vector<CauseTimes> seen(tree.nodes.size());
  const auto& metrics = tree.definitions.metrics;
  std::vector<std::size_t> causes(metrics.size(), 0);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    for (std::size_t cause = 1; metrics[i].is_waiting_cause() && cause < kWaitingCauses; ++cause) {
      if (metrics[i].name == std::string(kCausePrefix) + kCauseWords[cause]) causes[i] = cause;
    }
  }
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (filter && !filter(tree.definitions.locations[i])) continue;
    for (const profile::SampleCell& cell : tree.locations[i].samples) {
      const std::size_t cause = causes[cell.metric.value()];
      if (cause == 0 || !cell.node.defined()) continue;
      seen[cell.node.value()].seconds[cause] += static_cast<double>(cell.value) * 1e-9;
    }
  }
  return seen;
}

std::vector<std::size_t> largest_first(const CauseTimes& causes) {
  std::vector<std::size_t> order(kWaitingCauses);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return causes.seconds[i]; });
  return order;
}

}  // namespace

CauseTimes& CauseTimes::operator+=(const CauseTimes& other) {
  for (std::size_t i = 0; i < kWaitingCauses; ++i) seconds[i] += other.seconds[i];
  return *this;
}

double CauseTimes::all() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

std::vector<CauseTimes> causes_of_nodes(const profile::CallTree& tree,
                                        const profile::LocationFilter& filter,
                                        const std::vector<double>& waiting) {
  const RegionCauses causes(tree.definitions);
  const std::vector<CauseTimes> seen = seen_causes(tree, filter);
  std::vector<CauseTimes> result(tree.nodes.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const RegionId id = tree.nodes[i].region;
    CauseTimes one = seen[i];
    const double known = one.all();
    if (waiting[i] <= 0) continue;
    // Waiting is at most the own time, and so are its parts.
    if (known > waiting[i]) {
      for (double& part : one.seconds) part *= waiting[i] / known;
    }
    one[WaitingCause::kUnknown] = std::max(waiting[i] - known, 0.0);
    for (std::size_t cause = 0; cause < kWaitingCauses; ++cause) {
      const auto was = WaitingCause{static_cast<std::uint32_t>(cause)};
      const WaitingCause is = id.defined() ? causes.in(id.value(), was) : was;
      result[i][is] += one[was];
    }
    const profile::NodeId node{static_cast<std::uint32_t>(i)};
    if (is_suspended_at(tree, node)) {
      const double awaited = std::exchange(result[i][WaitingCause::kUnknown], 0.0);
      result[i][suspension_at(tree, node).cause] += awaited;
    }
  }
  return result;
}

std::string cause_shares(const CauseTimes& causes) {
  const double all = causes.all();
  std::string text;
  for (const std::size_t i : largest_first(causes)) {
    if (all <= 0 || causes.seconds[i] < 0.01 * all) break;
    if (!text.empty()) text += ", ";
    text += formatted("{} {:.0f}%", kCauseTexts[i], 100 * causes.seconds[i] / all);
  }
  return text;
}

std::string main_cause(const CauseTimes& causes) {
  constexpr double kNearlyAll = 0.95;
  static constexpr std::array<const char*, kWaitingCauses> kShort = {
      "unknown", "processor", "gil", "lock", "thread", "message", "I/O", "time"};
  const double all = causes.all();
  if (all <= 0) return {};
  const std::size_t most = largest_first(causes).front();
  const double share = causes.seconds[most] / all;
  if (share >= kNearlyAll) return kShort[most];
  return formatted("{} {:.0f}%", kShort[most], 100 * share);
}

nlohmann::ordered_json causes_json(const CauseTimes& causes) {
  nlohmann::ordered_json all;
  for (std::size_t i = 0; i < kWaitingCauses; ++i) all[kCauseWords[i]] = causes.seconds[i];
  return all;
}

std::string busy_machine(const CauseTimes& causes, double all, const Definitions& definitions) {
  constexpr double kMuch = 0.1;
  const double share = all <= 0 ? 0 : causes[WaitingCause::kProcessor] / all;
  if (share < kMuch) return {};
  std::string text =
      formatted("the machine was busy: {:.0f}% without a free processor", 100 * share);
  const auto runnable = definitions.properties.find(kRunnableThreads);
  const auto processors = definitions.properties.find(kProcessors);
  if (runnable == definitions.properties.end() || processors == definitions.properties.end()) {
    return text;
  }
  return text + ", " + runnable->second + " threads ready on " + processors->second;
}

void write_causes(const CauseTimes& causes, const Terminal& terminal, Output& output) {
  const double all = causes.all();
  if (all <= 0) return;
  output.write("\n" + terminal.paint("Waiting by cause", Ink::kAccent) +
               terminal.paint("  100% = " + duration(all, terminal, " "), Ink::kDim) + "\n\n");
  for (const std::size_t i : largest_first(causes)) {
    if (causes.seconds[i] <= 0) break;
    output.write(formatted("{} {}  {}\n", pad_left(percent(causes.seconds[i] / all), 6),
                           pad_left(duration(causes.seconds[i], terminal), 6), kCauseTexts[i]));
  }
}

}  // namespace timeloom::tools
