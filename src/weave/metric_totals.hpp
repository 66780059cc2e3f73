// What the metrics that are sampled with enters and leaves come to, over a run: the
// sum over locations of what was counted between the first and the last sample, or
// the largest value of those that do not count.
//
// Fed like any other sink, from begin() on with what was folded in place as well;
// add_to() when all locations are finished.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "profile/location_fold.hpp"

namespace timeloom::weave {

class MetricTotals : public RunSink {
 public:
  static bool wanted(const Definitions& definitions);

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  // What threads have folded themselves.
  void add(const profile::FoldedLocation& folded);
  // As properties of the run: timeloom::total_NAME.
  void add_to(std::map<std::string, std::string>& properties) const;

 private:
  class LocationTotals;

  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  std::vector<std::uint64_t> totals_;  // by MetricId
};

}  // namespace timeloom::weave
