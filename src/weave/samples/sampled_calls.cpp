#include "weave/samples/sampled_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/samples/sampled_time.hpp"

namespace timeloom::weave {
namespace {

// A thread that did not run for less has gone on at once: a sample is as inexact.
constexpr std::uint64_t kShortBreak = 20'000;  // nanoseconds

std::optional<std::uint32_t> metric_of_samples(const spool::ProcessDefinitions& definitions) {
  for (const auto& [id, metric] : definitions.metrics) {
    if (is_sampled_time(metric)) return id;
  }
  return {};
}

}  // namespace

SampledCalls::SampledCalls(const spool::SampleData& data,
                           const spool::ProcessDefinitions& definitions, const ProcessClock& clock,
                           std::uint32_t location)
    : frames_(&data.frames), definitions_(&definitions), metric_(metric_of_samples(definitions)) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 32;
  ticks_per_ns_ = static_cast<double>(kMany) / static_cast<double>(clock.duration(kMany));
  if (!definitions.properties.contains(kSampledCalls)) return;
  samples_ = {std::ranges::lower_bound(data.samples, location, {}, &spool::ThreadSample::location),
              std::ranges::upper_bound(data.samples, location, {}, &spool::ThreadSample::location)};
}

std::uint64_t SampledCalls::in_ticks(std::uint64_t ns) const noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(ns) * ticks_per_ns_);
}

void SampledCalls::put(std::uint64_t ticks, EventKind kind, std::uint32_t ref,
                       std::uint64_t value) {
  output_.push_back({Timestamp{ticks}, kind, ref, value});
}

void SampledCalls::leave_to(std::size_t depth, std::uint64_t ticks) {
  for (; open_.size() > depth; open_.pop_back()) put(ticks, EventKind::kLeave, open_.back());
}

// Goes on to the stack of the sample.
void SampledCalls::follow(std::uint64_t begin, const spool::ThreadSample& sample) {
  stack_.resize(std::min<std::size_t>(stack_.size(), sample.shared));
  const auto added = std::span(*frames_).subspan(sample.first, sample.count);
  stack_.insert(stack_.end(), added.begin(), added.end());
  wanted_.clear();
  std::ranges::copy_if(stack_, std::back_inserter(wanted_), [this](std::uint32_t region) {
    return definitions_->regions.contains(region);
  });
  const auto differs = std::ranges::mismatch(wanted_, open_).in1;
  leave_to(static_cast<std::size_t>(differs - wanted_.begin()), begin);
  for (auto region = differs; region != wanted_.end(); ++region) {
    put(begin, EventKind::kEnter, *region);
    open_.push_back(*region);
  }
}

void SampledCalls::take(const spool::ThreadSample& sample) {
  const std::uint64_t weight = in_ticks(sample.weight_ns);
  std::uint64_t begin = std::max(sample.ticks - std::min(weight, sample.ticks), last_);
  if (begin - last_ > in_ticks(kShortBreak)) {
    leave_to(0, last_);
  } else {
    begin = last_;
  }
  follow(begin, sample);
  last_ = std::max(sample.ticks, last_);
  if (metric_) put(last_, EventKind::kMetric, *metric_, sample.weight_ns);
}

void SampledCalls::pass(std::uint64_t until) {
  for (; !samples_.empty() && samples_.front().ticks <= until; samples_ = samples_.subspan(1)) {
    if (samples_.front().has_stack) take(samples_.front());
  }
}

void SampledCalls::merge(std::vector<Event>& batch) {
  if (samples_.empty() && open_.empty()) return;
  output_.clear();
  for (const Event& event : batch) {
    pass(ticks(event.time));
    // Waiting belongs to the recorded region: in a sampled function the thread was running.
    const bool ends = event.kind <= EventKind::kLeave || event.kind == EventKind::kWaiting;
    if (ends) leave_to(0, last_);
    last_ = std::max(ticks(event.time), last_);
    output_.push_back(event);
  }
  batch.swap(output_);
}

std::vector<Event> SampledCalls::rest() {
  output_.clear();
  pass(UINT64_MAX);
  leave_to(0, last_);
  return std::exchange(output_, {});
}

}  // namespace timeloom::weave
