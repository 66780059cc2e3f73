// The period of samples. A pure function.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "core/definitions.hpp"
#include "core/run_properties.hpp"

namespace timeloom {

// Nanoseconds of CPU time between two samples, as asked for; 0: not known.
inline std::uint64_t sample_period(const Definitions& definitions) {
  const auto found = definitions.properties.find(kSamplePeriod);
  if (found == definitions.properties.end()) return 0;
  const std::string& text = found->second;
  std::uint64_t period = 0;
  std::from_chars(text.data(), text.data() + text.size(), period);
  return period;
}

}  // namespace timeloom
