// Totals over a run of the metrics that are sampled with enters and leaves. A counter's total is
// the difference of its last and first sample, added up over the locations; another metric's total
// is the largest value.
//
// A sink like any other; from begin() on, add() takes the profiles that threads aggregated
// themselves. REQUIRES for totals() and add_to(): all locations are finished. Throws only
// std::bad_alloc. Threads: as RunSink.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "profile/location_aggregator.hpp"

namespace timeloom::weave {

class MetricTotals : public RunSink {
 public:
  static bool wanted(const Definitions& definitions);

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  // Adds a profile that a thread aggregated itself.
  void add(const profile::AggregatedLocation& aggregated);
  const std::vector<std::uint64_t>& totals() const noexcept { return totals_; }  // by MetricId
  // Adds the totals as properties of the run: timeloom::total_NAME.
  void add_to(std::map<std::string, std::string>& properties) const;

 private:
  class LocationTotals;

  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  std::vector<std::uint64_t> totals_;  // by MetricId
};

}  // namespace timeloom::weave
