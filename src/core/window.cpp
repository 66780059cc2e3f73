#include "core/window.hpp"

#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/text/count_text.hpp"

namespace timeloom {
namespace {

using Kind = WindowPoint::Kind;

std::string point_text(const WindowPoint& point) {
  if (point.kind == Kind::kRegion) return point.region;
  std::string text = std::to_string(static_cast<double>(point.ns) * 1e-9);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text + "s";
}

}  // namespace

WindowPoint parse_window_point(std::string_view text, const std::string& origin) {
  if (text.empty()) return {};
  constexpr std::string_view kOfNumbers = "0123456789.+-";
  if (kOfNumbers.find(text.front()) == std::string_view::npos)
    return {Kind::kRegion, 0, std::string(text)};
  constexpr double kLongest = 1e9;
  const std::optional<double> seconds = seconds_in(text);
  if (!seconds || !(*seconds < kLongest)) {
    throw Error(origin + ": '" + std::string(text) +
                "' is not accepted; write a time such as 500ms, 2.5s or 3min, or the name of a "
                "region such as __main__.train [TL101]");
  }
  return {Kind::kTime, static_cast<std::uint64_t>(std::llround(*seconds * 1e9)), {}};
}

std::string describe(const Window& window) {
  std::string text;
  if (window.from.kind != Kind::kNone) text += "from " + point_text(window.from);
  if (window.after != 0) text += " after " + plural(window.after, "call");
  if (window.until.kind != Kind::kNone) {
    text += (text.empty() ? "" : " ") + ("until " + point_text(window.until));
  }
  return text;
}

}  // namespace timeloom
