// The definitions for waiting, which the recorder and readers share: the metric of waiting time,
// the causes and their metrics, the region of a suspended task, and the region of a thread that
// runs a task. Plain functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom {

// The metric of the time in which a thread did not run.
inline Metric waiting_metric() {
  Metric metric;
  metric.name = kWaitingMetric;
  metric.unit = "s";
  metric.description = "Time in which the thread did not run, of gaps of 100 us and more";
  metric.type = MetricValueType::kUint64;
  metric.source = MetricSource::kOther;
  metric.mode = MetricMode::kAccumulatedStart;
  metric.exponent = -9;
  metric.set = "thread:waiting";
  return metric;
}

// Why a thread waited, numbered as in the attributes of a trace. The reference of an event kWaiting
// is one of them.
enum class WaitingCause : std::uint32_t {
  kUnknown = 0,
  kProcessor = 1,  // the thread was ready, and had no processor
  kGil = 2,
  kLock = 3,
  kThread = 4,   // another thread or process: its end, or a pipe from it
  kMessage = 5,  // of MPI
  kIo = 6,       // a file or a socket
  kTime = 7
};
inline constexpr std::size_t kWaitingCauses = 8;

// For people, and the words of the metrics.
inline constexpr std::array<const char*, kWaitingCauses> kCauseTexts = {
    "unknown", "no free processor", "gil", "lock", "thread or process", "message", "I/O", "time"};
inline constexpr std::array<const char*, kWaitingCauses> kCauseWords = {
    "unknown", "processor", "gil", "lock", "thread", "message", "io", "time"};

// The metric of the waiting of this cause, a part of waiting_metric().
inline Metric cause_metric(WaitingCause cause) {
  const auto index = static_cast<std::size_t>(cause);
  Metric metric = waiting_metric();
  metric.name = std::string(kCausePrefix) + kCauseWords[index];
  metric.description = std::string("Waiting of this cause: ") + kCauseTexts[index];
  return metric;
}

// Present in a run whose causes of waiting are known.
inline bool has_causes(const Definitions& definitions) {
  for (const Metric& metric : definitions.metrics) {
    if (metric.is_waiting_cause()) return true;
  }
  return false;
}

// Properties of a run: "true" where the system did not tell for what threads wait; the mean number
// of threads of the machine that ran or were ready; the number of processors.
inline constexpr char kCausesHidden[] = "timeloom::causes_hidden";
inline constexpr char kRunnableThreads[] = "timeloom::runnable_threads";
inline constexpr char kProcessors[] = "timeloom::processors";

// The region in which a task of asyncio or trio is, on its own location, until it is resumed.
inline constexpr char kSuspended[] = "suspended";
inline bool is_suspension(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kSuspended;
}

// The region at the end of a location for time after the last reading of the thread's clocks, so
// that it is known neither as work nor as waiting.
inline constexpr char kUnmeasured[] = "unmeasured";
inline Region unmeasured_region() {
  Region region;
  region.name = region.canonical_name = kUnmeasured;
  region.group = "measurement";
  region.paradigm = Paradigm::kMeasurement;
  region.role = RegionRole::kArtificial;
  return region;
}
inline bool is_unmeasured(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kUnmeasured;
}

// The region in which a thread is, on its own location, while it runs a task: its work and waiting
// are then on the location of the task. On a lane, a function has this name only with a file.
inline constexpr char kTaskRun[] = "task";
inline bool is_task_run(const Region& region) noexcept {
  return region.paradigm == Paradigm::kMeasurement && region.name == kTaskRun &&
         region.file.empty();
}

// The name of a lane that tasks share, before its number.
inline constexpr char kTaskLaneName[] = "tasks ";
inline bool is_task_lane(std::string_view location) noexcept {
  constexpr std::size_t kLength = sizeof(kTaskLaneName) - 1;
  return location.starts_with(kTaskLaneName) && location.size() > kLength &&
         location.find_first_not_of("0123456789", kLength) == std::string_view::npos;
}

}  // namespace timeloom
