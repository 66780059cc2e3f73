#include "settings/sample_setting.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/text/count_text.hpp"
#include "settings/overhead_setting.hpp"

namespace timeloom {

std::uint64_t sample_period_of(const Settings& settings) {
  constexpr double kLeast = 100e3, kMost = 10e9;
  constexpr std::uint64_t kOfStacks = 1'000'000;
  const std::string text = settings.text(kSettings.sample);
  if (text == "off" && !settings.flag(kSettings.sampling)) return 0;
  if (text.empty()) return settings.flag(kSettings.sampling) ? kOfStacks : 0;
  const double ns = std::round(seconds_in(text).value_or(0) * 1e9);
  if (ns >= kLeast && ns <= kMost) return static_cast<std::uint64_t>(ns);
  throw Error(settings.origin(kSettings.sample) + ": '" + text +
              "' is not accepted; write a time from 100us to 10s, such as 1ms [TL101]");
}

std::uint64_t estimate_period_of(const Settings& settings) {
  const std::optional<double> limit = overhead_limit_of(settings);
  if (!limit || !settings.text(kSettings.sample).empty()) return sample_period_of(settings);
  constexpr double kSampleNs = 30e3;  // that one costs, on a busy machine
  constexpr double kShare = 0.1;      // of the limit
  return static_cast<std::uint64_t>(std::clamp(kSampleNs / (kShare * *limit), 1e6, 100e6));
}

int sample_signal_of(const Settings& settings) {
  return settings.text(kSettings.sample_signal) == "winch" ? SIGWINCH : SIGURG;
}

}  // namespace timeloom
