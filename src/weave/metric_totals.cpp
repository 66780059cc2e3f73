#include "weave/metric_totals.hpp"

#include <algorithm>

namespace timeloom::weave {

class MetricTotals::LocationTotals : public LocationSink {
 public:
  explicit LocationTotals(MetricTotals& run) : run_(run), seen_(run.definitions_->metrics.size()) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      if (event.kind != EventKind::kMetric) continue;
      if (!run_.definitions_->metrics[event.ref].sampled()) continue;
      Seen& seen = seen_[event.ref];
      if (!seen.any) seen = {true, event.value, event.value};
      const bool counts = run_.definitions_->metrics[event.ref].counts();
      seen.last = counts ? event.value : std::max(seen.last, event.value);
    }
  }

  void finish() override {
    const std::lock_guard lock(run_.mutex_);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const Seen& seen = seen_[i];
      const Metric& metric = run_.definitions_->metrics[i];
      const std::uint64_t first = metric.counts() ? std::min(seen.first, seen.last) : 0;
      run_.totals_[i] = metric.join(run_.totals_[i], seen.last - first);
    }
  }

 private:
  struct Seen {
    bool any = false;
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // or the largest
  };
  MetricTotals& run_;
  std::vector<Seen> seen_;
};

bool MetricTotals::wanted(const Definitions& definitions) {
  return std::ranges::any_of(definitions.metrics, [](const Metric& metric) {
    return metric.sampled() && !metric.of_waiting();
  });
}

void MetricTotals::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  totals_.assign(definitions.metrics.size(), 0);
}

std::unique_ptr<LocationSink> MetricTotals::open_location(const Location&) {
  return std::make_unique<LocationTotals>(*this);
}

void MetricTotals::add(const profile::AggregatedLocation& aggregated) {
  for (const profile::AggregatedLocation::Sample& one : aggregated.samples) {
    std::uint64_t& total = totals_[one.metric.value()];
    total = definitions_->metrics[one.metric.value()].join(total, one.value);
  }
}

void MetricTotals::add_to(std::map<std::string, std::string>& properties) const {
  std::map<std::string, std::uint64_t> totals;
  std::map<std::string, std::string> units;
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    const Metric& metric = definitions_->metrics[i];
    if (!metric.sampled() || metric.of_waiting()) continue;
    const std::string name = metric.name + (metric.of_process() ? "_per_process" : "");
    totals[name] = metric.join(totals[name], totals_[i]);
    if (metric.exponent != 0) {
      units[name] = (metric.binary ? " x 2^" : " x 10^") + std::to_string(metric.exponent);
    }
    if (metric.unit != "#") units[name] += " " + metric.unit;
  }
  for (const auto& [name, total] : totals) {
    properties["timeloom::total_" + name] = std::to_string(total) + units[name];
  }
}

}  // namespace timeloom::weave
