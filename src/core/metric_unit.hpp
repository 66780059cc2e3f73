// A metric's unit together with the factor of its values: a value of 1 is base^exponent units.
//
// Plain functions for any thread; they throw only std::bad_alloc.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom {

// The number of units in a value of 1.
inline double unit_factor(const Metric& metric) noexcept {
  return metric.binary ? std::ldexp(1.0, metric.exponent) : std::pow(10.0, metric.exponent);
}

// The unit of a recorded value, with the factor: "10^-6 s".
inline std::string value_unit(const Metric& metric) {
  if (metric.exponent == 0) return metric.unit;
  const std::string power = (metric.binary ? "2^" : "10^") + std::to_string(metric.exponent);
  return metric.unit.empty() ? power : power + " " + metric.unit;
}

// The opposite, for files that have the factor in the text of the unit.
inline void set_unit(Metric& metric, std::string_view text) {
  metric.unit = text;
  const bool binary = text.starts_with("2^");
  if (!binary && !text.starts_with("10^")) return;
  const std::string_view power = text.substr(binary ? 2 : 3);
  std::int32_t exponent = 0;
  const char* const end = power.data() + power.size();
  const auto read = std::from_chars(power.data(), end, exponent);
  if (read.ec != std::errc() || (read.ptr != end && *read.ptr != ' ')) return;
  metric.binary = binary;
  metric.exponent = exponent;
  metric.unit.assign(read.ptr == end ? end : read.ptr + 1, end);
}

}  // namespace timeloom
