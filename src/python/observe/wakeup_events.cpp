#include "python/observe/wakeup_events.hpp"

#include <new>

#include "core/wakeups.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct WakeupParameters {
  ParameterId wakes, woken;
  std::uint32_t defined_in = 0;  // the number of the measurement that has their definitions
};
constinit WakeupParameters g_wakeup_parameters;
std::uint64_t g_last_wakeup = 0;

// A profile has no place for them.
bool records_wakeups() noexcept {
  const record::ThreadRecorder& recorder = *record::t_recorder;
  return record::recording() && recorder.attached() && !recorder.aggregates() &&
         !recorder.beyond_depth();
}

// Whether it was recorded.
bool record_wakeup_end(ParameterId WakeupParameters::*end, std::uint64_t number) noexcept try {
  WakeupParameters& parameters = g_wakeup_parameters;
  if (const std::uint32_t now = record::measurement_number(); parameters.defined_in != now) {
    parameters.wakes = record::define_parameter(kWakeupsParameter, ParameterType::kUint64);
    parameters.woken = record::define_parameter(kWokenParameter, ParameterType::kUint64);
    parameters.defined_in = now;
  }
  const std::uint64_t words[] = {(parameters.*end).value(), number};
  record::t_recorder->extended(ExtendedKind::kParameterUint, words);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

std::uint64_t record_wakeup() noexcept {
  if (!records_wakeups()) return 0;
  const std::uint64_t number = ++g_last_wakeup;
  return record_wakeup_end(&WakeupParameters::wakes, number) ? number : 0;
}

void record_woken(std::uint64_t number) noexcept {
  if (number != 0 && records_wakeups()) record_wakeup_end(&WakeupParameters::woken, number);
}

}  // namespace timeloom::python
