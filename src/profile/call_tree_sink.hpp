// Aggregates the events of a run into its CallTree.
//
// Use: make a sink, replay a RunSource into it (alone or beside other sinks), take the tree. Each
// location is aggregated by the thread that replays it, independently of the others; finish()
// merges them by call path. Parameters tell call paths apart, and counters have values in
// them. Memory grows with the number of call paths, not of events, and that number is
// limited. At the limit it depends on timing which of the locations that are aggregated at the
// same time get the last call paths; below the limit the result does not depend on timing.
//
// Thread safety: see RunSink. Throws Error if the events do not balance.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/event.hpp"
#include "profile/call_tree.hpp"
#include "profile/location_aggregator.hpp"

namespace timeloom::profile {

struct CallTreeOptions {
  // Call paths of all locations together; one that two locations enter counts twice. Visits
  // beyond the limit are counted below a node without a region, a child of the last call path
  // within the limit. There each function has one node for its visits and exclusive time,
  // independent of its caller. Half a million call paths, and as many such nodes, fit into
  // the 200 MB that a weave may take.
  std::uint32_t max_nodes = 500'000;
  // Each location may have this many call paths, and functions, whatever the others take.
  std::uint32_t own_nodes = 1000;
  // Functions below nodes without a region, of all locations together; visits and exclusive
  // time of further functions are counted in the node without a region itself.
  std::uint32_t max_functions = 200'000;
  // Levels that are kept apart, unless the run has the property kProfileDepth. Deeper visits
  // are counted in a node without a region, too, all functions together.
  std::uint32_t max_depth = UINT32_MAX;
};

// Aggregates each location, without merging them.
class LocationAggregators : public RunSink {
 public:
  explicit LocationAggregators(const CallTreeOptions& options = {})
      : options_(options), budget_(options.max_nodes), functions_(options.max_functions) {}

  bool wants_teams() const override { return true; }
  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  // The result, in the order of the locations; once, after finish().
  std::vector<AggregatedLocation> take_locations() { return std::move(aggregated_); }

 protected:
  // The time up to which events of the location are aggregated.
  virtual std::uint64_t cut(LocationId) const { return UINT64_MAX; }

  CallTreeOptions options_;
  const Definitions* definitions_ = nullptr;    // the source's, until finish()
  std::vector<AggregatedLocation> aggregated_;  // as definitions_->locations

 private:
  void set_depth(const Definitions& definitions);

  NodeBudget budget_;
  NodeBudget functions_;
};

class CallTreeSink : public LocationAggregators {
 public:
  using LocationAggregators::LocationAggregators;

  void finish() override;

  // Adds the profile that a location recorded itself, in place of its events or from their
  // end on. REQUIRES: the run has not been fed yet.
  void put(LocationId location, AggregatedLocation&& aggregated) {
    given_.insert_or_assign(location, std::move(aggregated));
  }

  // The result; once, after finish().
  CallTree take() { return std::move(tree_); }

 private:
  std::uint64_t cut(LocationId location) const override;

  std::map<LocationId, AggregatedLocation> given_;
  CallTree tree_;
};

}  // namespace timeloom::profile
