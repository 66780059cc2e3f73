#include "profile/call_tree_sink.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "profile/tree_merge.hpp"

namespace timeloom::profile {

namespace {

class FoldingSink : public LocationSink {
 public:
  FoldingSink(LocationFold fold, FoldedLocation& result)
      : fold_(std::move(fold)), result_(result) {}
  void consume(std::span<const Event> events) override { fold_.consume(events); }
  void finish() override { result_ = fold_.finish(); }

 private:
  LocationFold fold_;
  FoldedLocation& result_;
};

Definitions what_a_profile_needs(const Definitions& all) {
  Definitions kept;
  kept.clock = all.clock;
  kept.creator = all.creator;
  kept.machine_name = all.machine_name;
  kept.regions = all.regions;
  kept.groups = all.groups;
  kept.locations = all.locations;
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

void LocationFolds::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  folded_.resize(definitions.locations.size());
  set_depth(definitions);
}

void LocationFolds::set_depth(const Definitions& definitions) {
  const auto found = definitions.properties.find(kProfileDepth);
  if (found == definitions.properties.end()) return;
  const std::string& text = found->second;
  std::uint32_t levels = 0;
  std::from_chars(text.data(), text.data() + text.size(), levels);
  if (levels != 0) options_.max_depth = levels;
}

std::unique_ptr<LocationSink> LocationFolds::open_location(const Location& location) {
  const auto& all = definitions_->locations;
  const auto found =
      std::lower_bound(all.begin(), all.end(), location.id,
                       [](const Location& one, LocationId id) { return one.id < id; });
  if (found == all.end() || found->id != location.id) {
    throw Error("location '" + location.name + "' is not among the definitions of its run [TL322]");
  }
  const auto index = static_cast<std::size_t>(found - all.begin());
  const FoldLimits limits{options_.own_nodes, options_.own_nodes, options_.max_depth,
                          cut(location.id)};
  return std::make_unique<FoldingSink>(
      LocationFold(location.name, *definitions_, limits, budget_, functions_), folded_[index]);
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
  std::uint32_t deepest = 0;
  for (std::size_t i = 0; i < folded_.size(); ++i) {
    Location& location = tree_.definitions.locations[i];
    std::uint64_t events = 0;
    const auto add = [&](FoldedLocation&& folded) {
      deepest = std::max(deepest, folded.deepest);
      events += folded.events;
      if (folded.last != Timestamp{}) {
        widen(tree_.definitions.clock, ticks(folded.first), ticks(folded.last));
      }
      merge.add(i, std::move(folded));
    };
    add(std::move(folded_[i]));
    if (const auto given = given_.find(location.id); given != given_.end()) {
      add(std::move(given->second));
    }
    // For a run from spools, not known before the trace is written.
    if (location.event_count == 0) location.event_count = events;
  }
  merge.finish(tree_);
  if (deepest > options_.max_depth) {
    tree_.definitions.properties[kReachedDepth] = std::to_string(deepest);
  }
  folded_.clear();
  definitions_ = nullptr;
}

}  // namespace timeloom::profile
