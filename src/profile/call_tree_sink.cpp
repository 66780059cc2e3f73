#include "profile/call_tree_sink.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
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
  kept.properties = all.properties;
  return kept;
}

// Widens the time of the run so that [first, last] is in it, as the writer of
// the trace does: both must say the same of a run that was killed.
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

void CallTreeSink::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  folded_.resize(definitions.locations.size());
}

std::unique_ptr<LocationSink> CallTreeSink::open_location(const Location& location) {
  const auto& all = definitions_->locations;
  const auto found =
      std::lower_bound(all.begin(), all.end(), location.id,
                       [](const Location& one, LocationId id) { return one.id < id; });
  if (found == all.end() || found->id != location.id) {
    throw Error("location '" + location.name + "' is not among the definitions of its run");
  }
  const auto index = static_cast<std::size_t>(found - all.begin());
  return std::make_unique<FoldingSink>(
      LocationFold(location.name, definitions_->regions.size(), options_.own_nodes, budget_),
      folded_[index]);
}

void CallTreeSink::finish() {
  tree_.definitions = what_a_profile_needs(*definitions_);
  for (const Marker& marker : definitions_->markers) {
    widen(tree_.definitions.clock, ticks(marker.time), ticks(marker.time));
  }
  TreeMerge merge(folded_.size());
  for (std::size_t i = 0; i < folded_.size(); ++i) {
    Location& location = tree_.definitions.locations[i];
    if (const auto given = given_.find(location.id); given != given_.end()) {
      folded_[i] = std::move(given->second);
    }
    // Not known before the trace is written when the run comes from spools.
    std::uint64_t& events = location.event_count;
    if (events == 0) events = folded_[i].events;
    if (folded_[i].events > 0) {
      widen(tree_.definitions.clock, ticks(folded_[i].first), ticks(folded_[i].last));
    }
    merge.add(i, std::move(folded_[i]));
  }
  merge.finish(tree_);
  folded_.clear();
  definitions_ = nullptr;
}

}  // namespace timeloom::profile
