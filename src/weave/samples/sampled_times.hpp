// The CPU time of samples among the events of recorded calls: a profile has it by call path.
//
// A sink, as RunSink; see core/event.hpp for threads and errors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/event.hpp"
#include "spool/samples/sample_reader.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

struct TimedSample {
  Timestamp time;
  std::uint64_t weight_ns = 0;
};
using SampledTimes = std::map<LocationId, std::vector<TimedSample>>;  // in order of time

// Passes all events on, and before the enter or leave that follows a sample its CPU time as a value
// of `metric`. Values of a visit without calls inside belong to its parameters, too, which come
// behind its enter. `sink` and `times` outlive it.
class SampledTimeSink : public RunSink {
 public:
  SampledTimeSink(RunSink& sink, const SampledTimes& times, MetricId metric)
      : sink_(sink), times_(times), metric_(metric) {}

  bool wants_teams() const override { return sink_.wants_teams(); }
  void begin(const Definitions& definitions) override { sink_.begin(definitions); }
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override { sink_.finish(); }

 private:
  RunSink& sink_;
  const SampledTimes& times_;
  const MetricId metric_;
};

}  // namespace timeloom::weave
