#include "weave/samples/sampled_times.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace timeloom::weave {
namespace {

class OfLocation : public LocationSink {
 public:
  OfLocation(std::unique_ptr<LocationSink> sink, std::span<const TimedSample> samples,
             MetricId metric)
      : sink_(std::move(sink)), left_(samples), metric_(metric) {}

  void consume(std::span<const Event> events) override {
    if (events.empty() || left_.empty() || events.back().time < left_.front().time) {
      return sink_->consume(events);
    }
    for (const Event& event : events) {
      if (event.kind == EventKind::kEnter || event.kind == EventKind::kLeave) add_before(event);
      out_.push_back(event);
    }
    sink_->consume(out_);
    out_.clear();
  }
  // Samples behind the last event are in no call.
  void finish() override { sink_->finish(); }

 private:
  void add_before(const Event& event) {
    for (; !left_.empty() && left_.front().time <= event.time; left_ = left_.subspan(1)) {
      out_.push_back({event.time, EventKind::kMetric, metric_.value(), left_.front().weight_ns});
    }
  }

  const std::unique_ptr<LocationSink> sink_;
  std::span<const TimedSample> left_;
  const MetricId metric_;
  std::vector<Event> out_;
};

}  // namespace

std::unique_ptr<LocationSink> SampledTimeSink::open_location(const Location& location) {
  auto sink = sink_.open_location(location);
  const auto found = times_.find(location.id);
  if (found == times_.end()) return sink;
  return std::make_unique<OfLocation>(std::move(sink), found->second, metric_);
}

}  // namespace timeloom::weave
