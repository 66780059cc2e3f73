// The time of functions after they were throttled, or of calls that began while the instrumenter
// was paused (--overhead): it is estimated from samples. In the profile of a run it lies below the
// functions that were recorded, with these metrics; both are throttled functions here.
//
// Constants and a pure function.
#pragma once

#include <cstdint>

#include "core/definitions.hpp"

namespace timeloom {

// In a frame of a sample: the call was not recorded, since the function was throttled, runs inside
// a visit of one that was, or began while the instrumenter was paused. The innermost frame without
// it is the innermost recorded region.
inline constexpr std::uint32_t kUnrecordedFrame = std::uint32_t{1} << 31;

// Metrics of call paths, in nanoseconds of CPU time, a value for each sample. The part of the own
// time that is estimated:
inline constexpr char kEstimatedTime[] = "estimated time";
// The part of a function's measured own time that is counted for the throttled functions that it
// called:
inline constexpr char kEstimatedElsewhere[] = "estimated time of throttled callees";
// For a throttled function: the time of recorded functions that it called, which the tree has
// beside it. Only the sum over its call paths has a meaning.
inline constexpr char kEstimatedBelow[] = "estimated time of recorded callees";
inline constexpr char kEstimatedUnit[] = "ns";

// The error that is shown is two standard errors: 95 of 100 estimates are nearer to the truth.
// `squares`: the sum of the squares of the values.
double estimate_error(double squares) noexcept;

// Whether the profile of the run has such estimates.
bool has_estimates(const Definitions& definitions);

}  // namespace timeloom
