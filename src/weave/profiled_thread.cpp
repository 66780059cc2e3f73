#include "weave/profiled_thread.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/samples/sampled_time.hpp"
#include "core/waiting_metric.hpp"
#include "weave/last_gap.hpp"
#include "weave/wait_causes.hpp"

namespace timeloom::weave {
namespace {

using profile::AggregatedLocation;
using spool::PlaceKind;
using spool::ProfileNode;

// Converts the places of one file into nodes.
class Aggregator {
 public:
  Aggregator(const spool::ProfileData& data, const WovenProcess& process,
             std::span<const Metric> metrics)
      : data_(data), process_(process), metrics_(metrics), nodes_(data.places.size() + 1) {
    result_.first = process.clock.to_time(data.first);
    result_.last = process.clock.to_time(std::max(data.first, data.last));
    result_.deepest = data.deepest;
    result_.nodes.emplace_back();
  }

  AggregatedLocation aggregate(std::uint64_t& closed) {
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      switch (place(i).kind) {
        case PlaceKind::kCallPath:
        case PlaceKind::kContinued: add_node(i, closed); break;
        case PlaceKind::kParameter:  // together with the call path that it made
        case PlaceKind::kLeftOut: break;
        case PlaceKind::kMetric: add_metric(place_as<spool::ProfileMetric>(i)); break;
        case PlaceKind::kSamples: add_samples(place_as<spool::ProfileSamples>(i)); break;
      }
    }
    add_causes();
    add_sampled_time();
    add_last_gap();
    contain_children();
    return std::move(result_);
  }

 private:
  const ProfileNode& place(std::uint32_t index) const { return data_.places[index - 1]; }
  template <typename Place>
  const Place& place_as(std::uint32_t index) const {
    return reinterpret_cast<const Place&>(place(index));
  }

  void add_node(std::uint32_t index, std::uint64_t& closed) {
    const ProfileNode& node = place(index);
    const std::uint32_t region =
        node.region == spool::kBeyondLimit ? IdMap::kNone : process_.ids.regions[node.region];
    profile::AggregatedNode aggregated;
    aggregated.statistics = statistics_of(node, closed);
    aggregated.region = region == IdMap::kNone ? profile::kNoRegion : region;
    aggregated.parent = nodes_[node.parent];
    const bool forked = process_.ids.forked.contains(region);
    if (forked) {
      aggregated.statistics = {.inclusive = aggregated.statistics.inclusive};
      if (node.entered != 0) --closed;  // its enter is not recorded here
    }
    nodes_[index] = static_cast<std::uint32_t>(result_.nodes.size());
    if (node.kind == PlaceKind::kContinued) {
      result_.parts.push_back({nodes_[index], aggregated.statistics.inclusive});
      aggregated.statistics.min = UINT64_MAX;
      aggregated.statistics.max = 0;
    }
    if (node.parameter != 0) {
      add_parameter(nodes_[index], place_as<spool::ProfileParameter>(node.parameter));
    }
    result_.nodes.push_back(aggregated);
    if (!forked) result_.events += 2 * node.visits;
  }

  // Visits that a kill left open end with the process.
  profile::Statistics statistics_of(const ProfileNode& node, std::uint64_t& closed) {
    profile::Statistics result;
    result.visits = node.visits;
    result.inclusive = process_.clock.duration(node.ticks);
    if (node.shortest <= node.longest) {
      result.min = process_.clock.duration(node.shortest);
      result.max = process_.clock.duration(node.longest);
    }
    if (node.entered == 0) return result;
    const Timestamp begin = process_.clock.to_time(node.entered);
    const std::uint64_t open = ticks(std::max(process_.end, begin)) - ticks(begin);
    result.inclusive += open;
    result.min = std::min(result.min, open);
    result.max = std::max(result.max, open);
    result_.last = std::max(result_.last, process_.end);
    ++closed;
    return result;
  }

  void add_parameter(std::uint32_t node, const spool::ProfileParameter& one) {
    const std::uint32_t parameter = process_.ids.parameters[one.parameter];
    if (parameter == IdMap::kNone) return;  // its definition is damaged, and counted
    AggregatedLocation::Parameter added{node, nodes_[one.node], ParameterId{parameter}, one.value};
    if (process_.reader->definitions().parameters.at(one.parameter).type ==
        ParameterType::kString) {
      added.value = process_.ids.strings[static_cast<std::uint32_t>(one.value)];
    }
    result_.parameters.push_back(added);
  }

  void add_metric(const spool::ProfileMetric& one) {
    const std::uint32_t metric = process_.ids.metrics[one.metric];
    if (metric == IdMap::kNone || one.count == 0) return;
    result_.metrics.push_back({nodes_[one.node],
                               MetricId{metric},
                               {one.count, one.sum, one.least, one.most, one.squares}});
  }

  void add_samples(const spool::ProfileSamples& some) {
    for (std::uint32_t i = 0; i < some.count; ++i) {
      const std::uint32_t metric = process_.ids.metrics[some.metric + i];
      if (metric == IdMap::kNone || some.values[i] == 0) continue;
      result_.samples.push_back({nodes_[some.node], MetricId{metric}, some.values[i]});
    }
  }

  // The metric of a cause has its number from the run.
  std::optional<MetricId> metric_of(WaitingCause cause) const {
    const std::string name = cause_metric(cause).name;
    for (std::uint32_t i = 0; i < metrics_.size(); ++i) {
      if (metrics_[i].is_waiting_cause() && metrics_[i].name == name) return MetricId{i};
    }
    return {};
  }

  // Causes of waits that are known by their call path and time.
  void add_causes() {
    std::map<std::pair<std::uint32_t, MetricId>, std::uint64_t> sums;
    WaitCauses causes(process_.waits, data_.location, process_.clock.line());
    for (const WaitCauses::OfPlace& one : causes.gaps()) {
      const bool is_path = one.place != 0 && one.place < nodes_.size() &&
                           place(one.place).kind <= PlaceKind::kContinued;
      const auto metric = metric_of(one.cause);
      if (is_path && metric) sums[{nodes_[one.place], *metric}] += one.nanoseconds;
    }
    for (const auto& [key, waited] : sums) {
      result_.samples.push_back({key.first, key.second, waited});
    }
  }

  void add_sampled_time() {
    const auto metric = std::ranges::find_if(metrics_, is_sampled_time);
    if (metric == metrics_.end()) return;
    const MetricId id{static_cast<std::uint32_t>(metric - metrics_.begin())};
    const auto& places = process_.sampled_places;
    for (auto one = places.lower_bound({data_.location, 0});
         one != places.end() && one->first.first == data_.location; ++one) {
      result_.metrics.push_back({nodes_[one->first.second], id, one->second});
    }
  }

  // The innermost visit that a kill left open; 0: none.
  std::uint32_t innermost() const {
    std::uint32_t found = 0;
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      const bool path = place(i).kind <= PlaceKind::kContinued && place(i).entered != 0;
      if (path && (found == 0 || place(i).entered >= place(found).entered)) found = i;
    }
    return found;
  }

  // The time since the last event of a thread that was killed, or that is still running.
  void add_last_gap() {
    const std::uint32_t open = innermost();
    if (open == 0 || process_.ids.unmeasured == IdMap::kNone) return;
    const std::uint64_t last = std::max({data_.first, data_.last, place(open).entered});
    const Timestamp end = std::max(process_.end, process_.clock.to_time(last));
    const auto gap =
        last_gap(process_.reader->last_clocks(data_.location), last, process_.clock, end);
    if (!gap) return;
    if (gap->waited != 0) add_waiting(nodes_[open], gap->waited);
    if (!gap->unmeasured) return;
    const std::uint64_t time = ticks(end) - ticks(gap->measured_until);
    result_.nodes.push_back({{1, time, time, time}, process_.ids.unmeasured, nodes_[open], 0});
    result_.events += 2;
  }

  void add_waiting(std::uint32_t node, std::uint64_t waited) {
    const auto& metrics = process_.reader->definitions().metrics;
    const auto metric =
        std::ranges::find_if(metrics, [](const auto& one) { return one.second.is_waiting(); });
    const MetricId id{process_.ids.metrics[metric->first]};
    const auto found = std::ranges::find_if(
        result_.samples, [&](const auto& one) { return one.node == node && one.metric == id; });
    if (found != result_.samples.end()) {
      found->value += waited;
    } else {
      result_.samples.push_back({node, id, waited});
    }
  }

  // Counters of two cores may differ by a few ticks, so a child can appear to last longer than its
  // parent.
  void contain_children() {
    std::vector<profile::AggregatedNode>& nodes = result_.nodes;
    std::vector<std::uint64_t> children(nodes.size());
    for (std::size_t i = nodes.size() - 1; i > 0; --i) {
      profile::Statistics& own = nodes[i].statistics;
      own.inclusive = std::max(own.inclusive, children[i]);
      children[nodes[i].parent] += own.inclusive;
    }
  }

  const spool::ProfileData& data_;
  const WovenProcess& process_;
  const std::span<const Metric> metrics_;
  std::vector<std::uint32_t> nodes_;  // of places
  AggregatedLocation result_;
};

}  // namespace

AggregatedLocation folded_of(const spool::ProfileData& data, const WovenProcess& process,
                             std::span<const Metric> metrics, std::uint64_t& closed) {
  return Aggregator(data, process, metrics).aggregate(closed);
}

std::uint64_t unnamed_visits(const profile::AggregatedLocation& aggregated, const IdMap& regions) {
  std::uint64_t visits = 0;
  for (const profile::AggregatedNode& node : aggregated.nodes) {
    if (regions.is_fallback(node.region)) visits += node.statistics.visits;
  }
  return visits;
}

}  // namespace timeloom::weave
