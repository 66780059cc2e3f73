#include "settings/sample_setting.hpp"

#include <cmath>
#include <csignal>
#include <string>

#include "core/error.hpp"
#include "core/text/count_text.hpp"

namespace timeloom {

std::uint64_t sample_period_of(const Settings& settings) {
  constexpr double kLeast = 100e3, kMost = 10e9;
  constexpr std::uint64_t kOfStacks = 1'000'000;
  const std::string text = settings.text(kSettings.sample);
  if (text.empty()) return settings.flag(kSettings.sampling) ? kOfStacks : 0;
  const double ns = std::round(seconds_in(text).value_or(0) * 1e9);
  if (ns >= kLeast && ns <= kMost) return static_cast<std::uint64_t>(ns);
  throw Error(settings.origin(kSettings.sample) + ": '" + text +
              "' is not accepted; write a time from 100us to 10s, such as 1ms [TL101]");
}

int sample_signal_of(const Settings& settings) {
  return settings.text(kSettings.sample_signal) == "winch" ? SIGWINCH : SIGURG;
}

}  // namespace timeloom
