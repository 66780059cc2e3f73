#include "settings/overhead_setting.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace timeloom {

std::optional<double> overhead_limit_of(const Settings& settings) {
  const std::string text = settings.text(kSettings.overhead);
  if (text.empty()) return std::nullopt;
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view unit(end, text.data() + text.size());
  const bool in_range = percent > 0 && percent < 100;  // false for a NaN, too
  if (error != std::errc() || !in_range || (unit != "%" && unit != " %")) {
    throw Error(settings.origin(kSettings.overhead) + ": '" + text +
                "' is not accepted; write a percentage between 0 and 100, such as 5% [TL101]");
  }
  return percent / 100;
}

}  // namespace timeloom
