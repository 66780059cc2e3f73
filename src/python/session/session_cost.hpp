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
  // The CPU time when a launcher, or the fork of a child, started; then the whole process counts.
  // Empty: the process measures a part of itself.
  std::optional<std::uint64_t> launched_ns{};
  std::uint64_t begin_ns = 0;    // when the start of the session began
  std::uint64_t started_ns = 0;  // when the session had started
  std::uint64_t end_ns = 0;      // when the end of the session began
};

// The cost up to now. Samples are part of the cost of their event. `events`: calibrated and slowed
// costs, zeros where unknown; `ignored_callbacks`: callbacks that recorded nothing.
ProcessCost cost_of(const SessionCpuTimes& times, const record::Totals& totals,
                    const EventCost& events, const CallbackTimes& in_program,
                    std::uint64_t ignored_callbacks, double wall_seconds) noexcept;

}  // namespace timeloom::python
