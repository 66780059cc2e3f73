// The names and times of a run, as all formats write them.
//
// Plain functions over definitions that do not change meanwhile. They throw only std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom::exchange {

// Never empty; an undefined id names the call paths beyond a limit. The text is as recorded, so it
// may contain any bytes.
std::string region_name(const Definitions& definitions, RegionId region);

enum class Category : std::uint8_t { kFunction, kUser, kMeasurement, kOther, kMpi, kIo };
inline constexpr std::size_t kCategories = 6;

// kUser: a region that the program itself marks. (Score-P's Python bindings use it for functions,
// too; these have a module.)
Category category_of(const Region& region);
// "function", "user", "measurement", "mpi", "io" or "other".
std::string_view name_of(Category category);

// Turns "timeloom::task" into "task"; other names stay.
std::string_view parameter_name(const Parameter& parameter);

// The name of a metric; if it belongs to a process, with "_per_process".
std::string metric_name(const Metric& metric);

// The value of a metric event as a number, without the factor of its unit.
double metric_value(const Event& event, MetricValueType type);

// The command line of a process, or its name.
std::string command_of(const LocationGroup& group);

// Converts times to nanoseconds since the start of the run.
class RunClock {
 public:
  explicit RunClock(const ClockProperties& clock) noexcept
      : begin_(clock.begin), per_second_(std::max<std::uint64_t>(1, clock.ticks_per_second)) {}
  std::uint64_t operator()(Timestamp time) const noexcept {
    return ticks(time) <= begin_ ? 0 : nanoseconds(ticks(time) - begin_);
  }
  // Converts a number of ticks.
  std::uint64_t nanoseconds(std::uint64_t count) const noexcept {
    if (per_second_ == kNano) return count;
    const std::uint64_t whole = count / per_second_ * kNano, rest = count % per_second_;
    if (per_second_ < UINT64_MAX / kNano) return whole + rest * kNano / per_second_;
    return whole + static_cast<std::uint64_t>(static_cast<long double>(rest) /
                                              static_cast<long double>(per_second_) * kNano);
  }
  // The inverse: ticks of the clock.
  Timestamp at(std::uint64_t ns) const noexcept {
    const std::uint64_t whole = ns / kNano * per_second_;
    const auto part = static_cast<long double>(ns % kNano) * static_cast<long double>(per_second_);
    return Timestamp{begin_ + whole + static_cast<std::uint64_t>(part / kNano)};
  }

 private:
  static constexpr std::uint64_t kNano = 1'000'000'000;
  std::uint64_t begin_;
  std::uint64_t per_second_;
};

}  // namespace timeloom::exchange
