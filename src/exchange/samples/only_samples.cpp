#include <algorithm>
#include <utility>

#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/scaled.hpp"
#include "exchange/samples/open_path.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "exchange/samples/wrapped_source.hpp"

namespace timeloom::exchange {

namespace {

// The calls that a location has been in, one sample behind the other.
class SampleCalls : public LocationSink {
 public:
  SampleCalls(const ClockProperties& clock, LocationSinks sinks)
      : clock_(clock), sinks_(std::move(sinks)), now_(clock.begin) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      if (path_.take(event)) add(event.value);
    }
    pass();
  }
  void finish() override {
    leave_to(0);
    pass();
    for (const auto& sink : sinks_) sink->finish();
  }

 private:
  void add(std::uint64_t weight_ns) {
    const std::vector<std::uint32_t>& path = path_.path();
    const auto differs = std::ranges::mismatch(path, open_).in1;
    leave_to(static_cast<std::size_t>(differs - path.begin()));
    for (auto region = differs; region != path.end(); ++region) {
      put(EventKind::kEnter, *region, 0);
      open_.push_back(*region);
    }
    now_ += scaled(weight_ns, clock_.ticks_per_second, kNanoseconds);
    if (!open_.empty()) put(EventKind::kMetric, 0, weight_ns);
  }

  void leave_to(std::size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) put(EventKind::kLeave, open_.back(), 0);
  }

  void put(EventKind kind, std::uint32_t ref, std::uint64_t value) {
    out_.push_back({Timestamp{now_}, kind, ref, value});
  }

  void pass() {
    if (out_.empty()) return;
    for (const auto& sink : sinks_) sink->consume(out_);
    out_.clear();
  }

  const ClockProperties& clock_;
  LocationSinks sinks_;
  OpenPath path_;
  std::vector<std::uint32_t> open_;
  std::uint64_t now_;
  std::vector<Event> out_;
};

class SampleSource : public WrappedSource {
 public:
  using WrappedSource::WrappedSource;

 private:
  std::unique_ptr<LocationSink> open(const Location&, LocationSinks sinks) override {
    return std::make_unique<SampleCalls>(definitions().clock, std::move(sinks));
  }
};

}  // namespace

std::unique_ptr<RunSource> only_samples(RunSource& run) {
  Definitions definitions = run.definitions();
  std::erase_if(definitions.metrics, [](const Metric& metric) { return !is_sampled_time(metric); });
  definitions.properties[kSampledCalls] = kStacksInHandler;
  definitions.teams = nullptr;
  return std::make_unique<SampleSource>(run, std::move(definitions), false);
}

}  // namespace timeloom::exchange
