// The call-path profile of a run: the visits of each call path on each location, and their
// time.
//
// A plain value that owns its data, so the run it came from may be closed. Not synchronised:
// do not change it while another thread reads it. Throws only std::bad_alloc.
//
// Times are ticks of definitions.clock. Inclusive time is the time from enter to leave, also
// while recording is off. A visit that gets a parameter after it has entered other regions is
// counted in the call path in which it ended; the time until then stays in the earlier one.
// Exclusive time is derived: inclusive time less the children's inclusive time.
//
// In the difference of two profiles, which CUBE's tools make, visits and times can be
// negative: in two's complement, see signed_value(). No other tree has values from 2^63 on.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "core/event.hpp"
#include "core/ids.hpp"

namespace timeloom::profile {

constexpr std::int64_t signed_value(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

// A call path: a region together with the call path that entered it.
using NodeId = Id<struct CallPathTag, std::uint32_t>;

// The visits of one call path.
struct Statistics {
  std::uint64_t visits = 0;
  std::uint64_t inclusive = 0;
  std::uint64_t min = UINT64_MAX;  // shortest visit; UINT64_MAX: never visited
  std::uint64_t max = 0;           // longest visit

  void add_visit(std::uint64_t duration) noexcept {
    ++visits;
    inclusive += duration;
    min = std::min(min, duration);
    max = std::max(max, duration);
  }
  void add(const Statistics& other) noexcept {
    visits += other.visits;
    inclusive += other.inclusive;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

// The value of one parameter. Visits of a region with different values are different call paths.
struct ParameterValue {
  std::string name;
  std::string text;
  bool numeric = false;  // a whole number
  friend auto operator<=>(const ParameterValue&, const ParameterValue&) = default;
};
using ParameterSet = std::vector<ParameterValue>;  // in the order in which they were given
using ParameterSetId = Id<struct ParameterSetTag, std::uint32_t>;

// "n=2, name=x"; empty for none.
std::string text_of(const ParameterSet& parameters);

// Statistics of the values of a counter.
struct MetricStatistics {
  std::uint64_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;
  double squares = 0;  // their sum

  void add_value(double value) noexcept { add({1, value, value, value, value * value}); }
  void add(const MetricStatistics& other) noexcept {
    if (other.count == 0) return;
    min = count == 0 ? other.min : std::min(min, other.min);
    max = count == 0 ? other.max : std::max(max, other.max);
    count += other.count;
    sum += other.sum;
    squares += other.squares;
  }
  friend bool operator==(const MetricStatistics&, const MetricStatistics&) = default;
};

struct Node {
  NodeId parent;            // undefined: a root
  RegionId region;          // undefined: the call paths beyond the limit, see call_tree_sink.hpp
  std::uint32_t depth = 0;  // 0: a root
  ParameterSetId parameters{};  // in CallTree::parameter_sets; undefined: none
  friend bool operator==(const Node&, const Node&) = default;
};

// The visits of one location to one call path.
struct Cell {
  NodeId node;
  Statistics statistics;
  friend bool operator==(const Cell&, const Cell&) = default;
};

// The values of one counter in one call path.
struct MetricCell {
  MetricId metric;
  NodeId node;
  MetricStatistics statistics;
  friend bool operator==(const MetricCell&, const MetricCell&) = default;
};

// The value, in one call path, of a metric that is sampled at every enter and leave. For a
// counter: the sum of its differences from event to event while this call path was the
// innermost. For other metrics: the largest value at the events that ended such intervals.
struct SampleCell {
  MetricId metric;
  NodeId node;  // undefined: no region was open
  std::uint64_t value = 0;
  friend bool operator==(const SampleCell&, const SampleCell&) = default;
};

// The values of a counter on a location for metrics, where no region is ever open.
struct OutsideCell {
  MetricId metric;
  MetricStatistics statistics;
  friend bool operator==(const OutsideCell&, const OutsideCell&) = default;
};

struct LocationProfile {
  Timestamp first{};  // of its events; equal to `last` when it has none
  Timestamp last{};
  std::vector<Cell> cells;  // in order of nodes; without nodes that took no time and no visits
  std::vector<MetricCell> metrics{};   // in order of metrics, then of nodes
  std::vector<SampleCell> samples{};   // in the same order, none of them 0
  std::vector<OutsideCell> outside{};  // in order of metrics
  friend bool operator==(const LocationProfile&, const LocationProfile&) = default;
};

struct CallTree {
  // The run's clock, creator, machine, regions, location groups, locations, metrics and
  // properties. Strings, parameters and markers are left out.
  Definitions definitions;
  // In pre-order: a node is followed by its subtree, children in the order of
  // their first visit.
  std::vector<Node> nodes;
  std::vector<ParameterSet> parameter_sets;
  std::vector<LocationProfile> locations;  // as definitions.locations
};

// A call path summed over locations.
struct Totals : Statistics {
  std::uint64_t exclusive = 0;
};

// Returns whether a location is to be counted.
using LocationFilter = std::function<bool(const Location&)>;

// Sums the locations that `filter` selects (without a filter, all), by node.
std::vector<Totals> sum_locations(const CallTree& tree, const LocationFilter& filter = {});

// The time of all roots, which is 100 % in a report.
std::uint64_t total_time(const CallTree& tree, const std::vector<Totals>& totals);

}  // namespace timeloom::profile
