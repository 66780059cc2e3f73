// The period of samples and their signal, from the settings sample, sampling and
// sample-signal.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>

#include "settings/settings.hpp"

namespace timeloom {

// Nanoseconds of CPU time; 0: nothing is sampled. Throws Error for a text that is not a time, and
// for one below 100 us.
std::uint64_t sample_period_of(const Settings& settings);
// The same; if only the setting overhead is given, a period that is long enough for the samples, by
// which the time of throttled functions is estimated, to cost about a tenth of its limit.
std::uint64_t estimate_period_of(const Settings& settings);
// The number of the signal.
int sample_signal_of(const Settings& settings);

}  // namespace timeloom
