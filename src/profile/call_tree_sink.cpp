#include "profile/call_tree_sink.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "profile/growing_calls.hpp"
#include "profile/growth.hpp"
#include "profile/samples/sampled_visits.hpp"
#include "profile/tree_merge.hpp"

namespace timeloom::profile {

namespace {

class AggregatingSink : public LocationSink {
 public:
  AggregatingSink(LocationAggregator aggregator, AggregatedLocation& result)
      : aggregator_(std::move(aggregator)), result_(result) {}
  void consume(std::span<const Event> events) override { aggregator_.consume(events); }
  void finish() override { result_ = aggregator_.finish(); }

 private:
  LocationAggregator aggregator_;
  AggregatedLocation& result_;
};

Definitions what_a_profile_needs(const Definitions& all) {
  Definitions kept;
  kept.clock = all.clock;
  kept.creator = all.creator;
  kept.machine_name = all.machine_name;
  kept.regions = all.regions;
  kept.groups = all.groups;
  kept.locations = all.locations;
  kept.contexts = all.contexts;
  kept.metrics = all.metrics;
  kept.properties = all.properties;
  return kept;
}

// Widens the time of the run so that [first, last] is in it, as the writer of the trace does:
// both must agree about a run that was killed.
void widen(ClockProperties& clock, std::uint64_t first, std::uint64_t last) {
  const bool unknown = clock.begin == 0 && clock.length == 0;
  const std::uint64_t begin = unknown ? first : std::min(clock.begin, first);
  const std::uint64_t end = unknown ? last : std::max(clock.begin + clock.length, last);
  if (clock.realtime && begin < clock.begin) {
    const double earlier = static_cast<double>(clock.begin - begin) * 1e9 /
                           static_cast<double>(clock.ticks_per_second);
    clock.realtime = *clock.realtime -
                     std::min(static_cast<std::uint64_t>(std::llround(earlier)), *clock.realtime);
  }
  clock.begin = begin;
  clock.length = end - begin;
}

}  // namespace

void LocationAggregators::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  aggregated_.resize(definitions.locations.size());
  set_depth(definitions);
}

void LocationAggregators::set_depth(const Definitions& definitions) {
  const auto found = definitions.properties.find(kProfileDepth);
  if (found == definitions.properties.end()) return;
  const std::string& text = found->second;
  std::uint32_t levels = 0;
  std::from_chars(text.data(), text.data() + text.size(), levels);
  if (levels != 0) options_.max_depth = levels;
}

std::unique_ptr<LocationSink> LocationAggregators::open_location(const Location& location) {
  const auto& all = definitions_->locations;
  const auto found =
      std::lower_bound(all.begin(), all.end(), location.id,
                       [](const Location& one, LocationId id) { return one.id < id; });
  if (found == all.end() || found->id != location.id) {
    throw Error("location '" + location.name + "' is not among the definitions of its run [TL322]");
  }
  const auto index = static_cast<std::size_t>(found - all.begin());
  const AggregationLimits limits{options_.own_nodes, options_.own_nodes, options_.max_depth,
                                 cut(location.id), location.type == LocationType::kMetric};
  return std::make_unique<AggregatingSink>(
      LocationAggregator(location.name, *definitions_, limits, budget_, functions_),
      aggregated_[index]);
}

std::uint64_t CallTreeSink::cut(LocationId location) const {
  const auto given = given_.find(location);
  return given == given_.end() ? UINT64_MAX : ticks(given->second.first);
}

void CallTreeSink::finish() {
  tree_.definitions = what_a_profile_needs(*definitions_);
  for (const Marker& marker : definitions_->markers) {
    widen(tree_.definitions.clock, ticks(marker.time), ticks(marker.time));
  }
  TreeMerge merge(*definitions_);
  Growth growth(*definitions_);
  const bool sampled = has_sampled_calls(*definitions_);
  std::uint32_t deepest = 0;
  for (std::size_t i = 0; i < aggregated_.size(); ++i) {
    Location& location = tree_.definitions.locations[i];
    std::uint64_t events = 0;
    const auto add = [&](AggregatedLocation&& aggregated) {
      deepest = std::max(deepest, aggregated.deepest);
      events += aggregated.events;
      if (aggregated.last != Timestamp{}) {
        widen(tree_.definitions.clock, ticks(aggregated.first), ticks(aggregated.last));
      }
      if (!sampled) growth.add(aggregated);
      merge.add(i, std::move(aggregated));
    };
    add(std::move(aggregated_[i]));
    if (const auto given = given_.find(location.id); given != given_.end()) {
      add(std::move(given->second));
    }
    // For a run from spools, not known before the trace is written.
    if (location.event_count == 0) location.event_count = events;
  }
  merge.finish(tree_);
  count_samples(tree_);
  if (const std::string growing = growing_calls_text(growth.functions()); !growing.empty()) {
    tree_.definitions.properties[kGrowingCalls] = growing;
  }
  if (deepest > options_.max_depth) {
    tree_.definitions.properties[kReachedDepth] = std::to_string(deepest);
  }
  aggregated_.clear();
  definitions_ = nullptr;
}

}  // namespace timeloom::profile
