// The units in which OMNITRACE_TIMING_UNITS and OMNITRACE_MEMORY_UNITS have the reports show times
// and memory.
//
// Plain functions; any thread may call them.
#pragma once

#include <string>
#include <vector>

#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom {

// One unit is `value` nanoseconds or bytes.
struct OmnitraceUnit {
  std::string name;
  double value = 1;
  bool operator==(const OmnitraceUnit&) const = default;
};

// The units that the variables name; seconds and MB in place of an unknown name.
OmnitraceUnit time_unit(const OmnitraceSettings& omnitrace);
OmnitraceUnit memory_unit(const OmnitraceSettings& omnitrace);

// A line for each name that is not known.
std::vector<std::string> unknown_units(const OmnitraceSettings& omnitrace);

}  // namespace timeloom
