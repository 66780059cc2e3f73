// Folds the events of a run into its CallTree.
//
// Use: make one, feed a RunSource to it (alone or beside other sinks), take the
// tree. Each location is folded by the thread that feeds it, independent of the
// others; finish() merges them by call path. Memory grows with the number of
// call paths, not with the number of events, and the number of call paths is
// limited. Parameters tell call paths apart, counters have values in them. At that limit the
// distribution of the last call paths over locations that are folded at the same time depends on
// timing; below it the result does not.
//
// Thread safety: as RunSink says. Throws Error when the events do not balance.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/event.hpp"
#include "profile/call_tree.hpp"
#include "profile/location_fold.hpp"

namespace timeloom::profile {

struct CallTreeOptions {
  // Call paths of all locations together; one that two locations enter counts
  // twice. Visits beyond the limit are counted below a node without a region, a child of
  // the call path that they come from: there each function has one node, for its visits and its
  // own time, whichever of these functions called it. Half a million call paths, and as many
  // such nodes, fit into the 200 MB that a weave may take.
  std::uint32_t max_nodes = 500'000;
  // Each location has so many of both in any case, whatever the others take.
  std::uint32_t own_nodes = 1000;
  // Functions below such nodes, of all locations together; the visits of others, and
  // their own time, are those of the node without a region.
  std::uint32_t max_functions = 200'000;
  // Levels that are kept apart, unless the run says it (kProfileDepth). Deeper visits
  // are counted in such a node, too, whatever their function.
  std::uint32_t max_depth = UINT32_MAX;
};

// Folds each location, and leaves them apart.
class LocationFolds : public RunSink {
 public:
  explicit LocationFolds(const CallTreeOptions& options = {})
      : options_(options), budget_(options.max_nodes), functions_(options.max_functions) {}

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  // The result, in the order of the locations; once, after finish().
  std::vector<FoldedLocation> take_locations() { return std::move(folded_); }

 protected:
  // The events of the location that are folded end there.
  virtual std::uint64_t cut(LocationId) const { return UINT64_MAX; }

  CallTreeOptions options_;
  const Definitions* definitions_ = nullptr;  // the source's, from begin to finish
  std::vector<FoldedLocation> folded_;        // as definitions_->locations

 private:
  void set_depth(const Definitions& definitions);

  NodeBudget budget_;
  NodeBudget functions_;
};

class CallTreeSink : public LocationFolds {
 public:
  using LocationFolds::LocationFolds;

  void finish() override;

  // Adds the profile that a location folded while it ran, in place of its events or from
  // their end on. REQUIRES: the run has not been fed yet.
  void put(LocationId location, FoldedLocation&& folded) {
    given_.insert_or_assign(location, std::move(folded));
  }

  // The result; once, after finish().
  CallTree take() { return std::move(tree_); }

 private:
  std::uint64_t cut(LocationId location) const override;

  std::map<LocationId, FoldedLocation> given_;
  CallTree tree_;
};

}  // namespace timeloom::profile
