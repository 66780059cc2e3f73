#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/samples/sampled_time.hpp"
#include "exchange/names.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "exchange/samples/wrapped_source.hpp"

namespace timeloom::exchange {

namespace {

// The metric of samples, which is added if the run has none.
std::uint32_t metric_of(Definitions& definitions) {
  auto& metrics = definitions.metrics;
  const auto found = std::ranges::find_if(metrics, is_sampled_time);
  const auto id = static_cast<std::uint32_t>(found - metrics.begin());
  if (found == metrics.end()) metrics.push_back(sampled_time_metric());
  return id;
}

struct Merge {
  const RunSamples samples;
  RunClock clock;
  std::vector<bool> made_of_samples;  // by region
  bool sampled_calls = false;
  std::uint32_t metric = 0;
};

class MergedLocation : public LocationSink {
 public:
  MergedLocation(const Merge& merge, LocationId location, LocationSinks sinks)
      : merge_(merge), sinks_(std::move(sinks)) {
    const auto found = merge.samples.of_location.find(location);
    if (found != merge.samples.of_location.end()) left_ = found->second;
  }

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) take(event);
    pass();
  }
  void finish() override {
    add_until(UINT64_MAX, true);
    pass();
    for (const auto& sink : sinks_) sink->finish();
  }

 private:
  void take(const Event& event) {
    const std::uint64_t time = merge_.clock(event.time);
    const bool of_sample = event.kind == EventKind::kMetric && event.ref == merge_.metric;
    // In a run whose calls are made of samples, the value of this metric stands where the sample
    // belongs among the calls.
    add_until(time, !merge_.sampled_calls || of_sample);
    last_ = std::max(last_, ticks(event.time));
    if (of_sample) return;
    if (is_made_of_samples(event)) return follow(event);
    out_.push_back(event);
  }

  bool is_made_of_samples(const Event& event) const {
    return event.kind <= EventKind::kLeave && event.ref < merge_.made_of_samples.size() &&
           merge_.made_of_samples[event.ref];
  }

  void follow(const Event& event) {
    if (event.kind == EventKind::kEnter) {
      calls_.push_back(event.ref);
    } else if (!calls_.empty()) {
      calls_.pop_back();
    }
  }

  void add_until(std::uint64_t time, bool also_in_functions) {
    for (; !left_.empty() && left_.front().time_ns <= time; left_ = left_.subspan(1)) {
      if (left_.front().in_function && !also_in_functions) return;
      add(left_.front());
    }
  }

  void add(const RunSample& sample) {
    last_ = std::max(last_, ticks(merge_.clock.at(sample.time_ns)));
    for (const std::uint32_t call : calls_) put(EventKind::kSampleFrame, call, 0);
    for (const RegionId frame : merge_.samples.frames[sample.frames]) {
      put(EventKind::kSampleFrame, frame.value(), 0);
    }
    put(EventKind::kSample, sample.line, sample.weight_ns);
    put(EventKind::kMetric, merge_.metric, sample.weight_ns);
  }

  void put(EventKind kind, std::uint32_t ref, std::uint64_t value) {
    out_.push_back({Timestamp{last_}, kind, ref, value});
  }

  void pass() {
    if (out_.empty()) return;
    for (const auto& sink : sinks_) sink->consume(out_);
    out_.clear();
  }

  const Merge& merge_;
  LocationSinks sinks_;
  std::span<const RunSample> left_;
  std::vector<std::uint32_t> calls_;  // open ones that are made of samples
  std::uint64_t last_ = 0;            // ticks of the last event
  std::vector<Event> out_;
};

class MergedSource : public WrappedSource {
 public:
  MergedSource(RunSource& run, Definitions definitions, Merge merge)
      : WrappedSource(run, std::move(definitions), true), merge_(std::move(merge)) {}

 private:
  std::unique_ptr<LocationSink> open(const Location& location, LocationSinks sinks) override {
    return std::make_unique<MergedLocation>(merge_, location.id, std::move(sinks));
  }
  const Merge merge_;
};

}  // namespace

bool is_sampled_function(const Region& region) {
  return category_of(region) == Category::kFunction && !region.group.empty();
}

std::unique_ptr<RunSource> with_samples(RunSource& run, RunSamples samples) {
  Definitions definitions = run.definitions();
  definitions.original = nullptr;
  const bool sampled_calls = has_sampled_calls(definitions);
  std::vector<bool> made_of_samples;
  for (const Region& region : definitions.regions) {
    made_of_samples.push_back(sampled_calls && is_sampled_function(region));
  }
  definitions.regions.insert(definitions.regions.end(), samples.functions.begin(),
                             samples.functions.end());
  const RunClock clock(definitions.clock);
  const std::uint32_t metric = metric_of(definitions);
  return std::make_unique<MergedSource>(
      run, std::move(definitions),
      Merge{std::move(samples), clock, std::move(made_of_samples), sampled_calls, metric});
}

}  // namespace timeloom::exchange
