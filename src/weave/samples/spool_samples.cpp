// The part of SpoolSource for samples of CPU time.
#include <algorithm>
#include <iterator>

#include "core/samples/sampled_time.hpp"
#include "weave/samples/estimated_paths.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

// The metric is there whether a sample was taken or not, so that the metrics of a run do not depend
// on chance.
void SpoolSource::add_sampled_times() {
  if (has_sampled_calls(definitions_)) return;
  for (const Process& process : processes_) {
    if (process.samples.period_ns == 0) continue;
    if (!sampled_time_metric_.defined()) {
      sampled_time_metric_ = MetricId{static_cast<std::uint32_t>(definitions_.metrics.size())};
      definitions_.metrics.push_back(timeloom::sampled_time_metric());
    }
    for (const spool::ThreadSample& sample : process.samples.samples) {
      if (sample.place != 0) continue;  // its profile has it
      auto& times = sampled_times_[location_id(process, sample.location)];
      times.push_back({process.clock.to_time(sample.ticks), sample.weight_ns});
    }
  }
}

void SpoolSource::add_samples(symbols::CodeNames& names) {
  for (Process& process : processes_) {
    if (process.samples.damaged && process.reader->definitions().ended) ++damaged_segments_;
    const bool become_calls = has_sampled_calls(definitions_);
    const SampleTable::Places places{
        [&process](std::uint32_t index) { return location_id(process, index); },
        [this, &process](std::uint64_t ticks) { return since_begin(process, ticks); },
        !become_calls};
    samples_.add(process.samples, process.reader->definitions(), process.ids, names, places);
    if (become_calls) continue;
    auto paths = estimated_paths(process.samples, process.ids, places.location_of);
    std::ranges::move(paths, std::back_inserter(estimates_));
    process.samples = {};
  }
  samples_.describe(definitions_.properties);
}

}  // namespace timeloom::weave
