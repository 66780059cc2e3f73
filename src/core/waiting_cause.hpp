// Why a thread waited, and the metrics for it, which weaving and readers share.
//
// Constants and plain functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/waiting_metric.hpp"

namespace timeloom {

// Numbered as in the attributes of a trace. The reference of an event kWaiting is one of them.
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

}  // namespace timeloom
