// The metrics of Omnitrace's call-tree reports that a run can have: the name of each, the words and
// columns of its report, and the values of a visit that it is made of.
//
// A constant table; plain functions for any thread. Nothing throws.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::omnitrace {

enum class Kind : std::uint8_t { kTrips, kTime, kMemory, kPercent, kCounter };

enum class Measure : std::uint8_t {
  kNothing,   // visits are counted, no more
  kWallTime,  // from enter to leave
  kIncrease,  // of the sampled counters, from enter to leave
  kShare,     // the same, in percent of the wall time
  kBothEnds,  // the sampled values at enter and at leave
};

struct Metric {
  std::string_view id;     // as in OMNITRACE_TIMEMORY_COMPONENTS
  std::string_view label;  // in the column METRIC, and the name of its files
  Kind kind;
  Measure measure;
  std::string_view description;
  std::uint32_t number;                        // in timemory's enumeration; 0: not known
  std::vector<std::string_view> aliases = {};  // further names
  // Sampled metrics of a run that are added up, by their names there.
  std::vector<std::string_view> sampled = {};
  std::array<std::string_view, 2> both = {};  // of kBothEnds, in the column METRIC
  bool of_thread = false;                     // measures the calling thread alone

  std::size_t values() const noexcept { return measure == Measure::kBothEnds ? 2 : 1; }
  std::string_view cell(std::size_t value) const noexcept {
    return measure == Measure::kBothEnds ? both[value] : label;
  }
};

std::span<const Metric> all_metrics();
// The metric with that id or alias; nullptr: there is none.
const Metric* find_metric(std::string_view name);

// The unit in which times or memory are shown: one unit is `value` nanoseconds or bytes.
struct Unit {
  std::string name;
  double value = 1;
};

}  // namespace timeloom::omnitrace
