#include "core/window.hpp"

#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/filter.hpp"
#include "core/settings.hpp"

namespace timeloom {
namespace {

using Kind = WindowPoint::Kind;

std::string text_of(const WindowPoint& point) {
  if (point.kind == Kind::kRegion) return point.region;
  std::string text = std::to_string(static_cast<double>(point.ns) * 1e-9);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text + "s";
}

// Windows end when the region is left, of which only what is recorded tells.
void refuse_excluded(const Settings& settings, const WindowPoint& point, const std::string& name) {
  if (point.kind != Kind::kRegion) return;
  Region region;
  region.name = point.region;
  region.group = point.region.substr(0, point.region.rfind('.'));
  if (!Filter(settings.rules()).excluded(region)) return;
  throw Error("--" + name + ": " + point.region +
              " is not recorded by the rules of --exclude and --include; include it");
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

Window window_of(const Settings& settings) {
  Window window;
  window.from = parse_window_point(settings.text("from"), "--from");
  window.until = parse_window_point(settings.text("until"), "--until");
  window.after = settings.number("after");
  if (window.after != 0 && window.from.kind != Kind::kRegion) {
    throw Error("--after counts calls of the region of --from; write --from REGION");
  }
  const bool times = window.from.kind == Kind::kTime && window.until.kind == Kind::kTime;
  if (times && window.until.ns <= window.from.ns) {
    throw Error("--until: the window ends before it begins; write a later time");
  }
  refuse_excluded(settings, window.until, "until");
  return window;
}

std::string describe(const Window& window) {
  std::string text;
  if (window.from.kind != Kind::kNone) text += "from " + text_of(window.from);
  if (window.after != 0) {
    text += " after " + std::to_string(window.after) + (window.after == 1 ? " call" : " calls");
  }
  if (window.until.kind != Kind::kNone) {
    text += (text.empty() ? "" : " ") + ("until " + text_of(window.until));
  }
  return text;
}

}  // namespace timeloom
