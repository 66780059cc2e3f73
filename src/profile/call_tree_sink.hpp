// Folds the events of a run into its CallTree.
//
// Use: make one, feed a RunSource to it (alone or beside other sinks), take the
// tree. Each location is folded by the thread that feeds it, independent of the
// others; finish() merges them by call path. Memory grows with the number of
// call paths, not with the number of events.
//
// Thread safety: as RunSink says. Throws Error when the events do not balance.
#pragma once

#include <memory>
#include <vector>

#include "core/event.hpp"
#include "profile/call_tree.hpp"
#include "profile/location_fold.hpp"

namespace timeloom::profile {

struct CallTreeOptions {
  // Call paths of one location. What a location enters beyond them is counted
  // below the call path that entered it, in one node without a region.
  std::uint32_t max_nodes = 1 << 20;
};

class CallTreeSink : public RunSink {
 public:
  explicit CallTreeSink(const CallTreeOptions& options = {}) : options_(options) {}

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

  // The result; once, after finish().
  CallTree take() { return std::move(tree_); }

 private:
  CallTreeOptions options_;
  const Definitions* definitions_ = nullptr;  // the source's, from begin to finish
  std::vector<FoldedLocation> folded_;        // as definitions_->locations
  CallTree tree_;
};

}  // namespace timeloom::profile
