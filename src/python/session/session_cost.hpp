// The cost of measuring this process, from its CPU times at the steps of a session.
//
// A plain value and a function. Needs the GIL, as the session does. Nothing throws.
#pragma once

#include <cstdint>
#include <optional>

#include "core/measuring_cost.hpp"
#include "python/observe/cost/calibration.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

// User and system time of the process, in nanoseconds.
struct SessionCpuTimes {
  // When a launcher, or the fork of a child, began; then all of the process counts. None: it
  // measures a part of itself.
  std::optional<std::uint64_t> launched_ns{};
  std::uint64_t begin_ns = 0;    // when the session began to start
  std::uint64_t started_ns = 0;  // and when it had
  std::uint64_t end_ns = 0;      // when it began to end
};

// Up to now. Samples are a part of the cost of the event that they were taken at. `events`: as
// calibrated and slowed, zeros where they were not; `ignored_callbacks`: those that recorded
// nothing.
ProcessCost cost_of(const SessionCpuTimes& times, const record::Totals& totals,
                    const EventCost& events, const CallbackTimes& in_program,
                    std::uint64_t ignored_callbacks, double wall_seconds) noexcept;

}  // namespace timeloom::python
