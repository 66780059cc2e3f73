#include "core/window.hpp"

#include <charconv>
#include <cmath>

#include "core/error.hpp"

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
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const double scale = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "min" ? 60e9 : 0;
  constexpr double kLongest = 1e18;
  if (error != std::errc{} || scale == 0 || value < 0 || !(value * scale < kLongest)) {
    throw Error(origin + ": '" + std::string(text) +
                "' is not accepted; write a time such as 500ms, 2.5s or 3min, or the name of a "
                "region such as __main__.train");
  }
  return {Kind::kTime, static_cast<std::uint64_t>(std::llround(value * scale)), {}};
}

std::string describe(const Window& window) {
  std::string text;
  if (window.from.kind != Kind::kNone) text += "from " + point_text(window.from);
  if (window.after != 0) {
    text += " after " + std::to_string(window.after) + (window.after == 1 ? " call" : " calls");
  }
  if (window.until.kind != Kind::kNone) {
    text += (text.empty() ? "" : " ") + ("until " + point_text(window.until));
  }
  return text;
}

}  // namespace timeloom
