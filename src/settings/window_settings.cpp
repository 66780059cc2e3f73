#include "settings/window_settings.hpp"

#include <string>

#include "core/error.hpp"
#include "core/filter/filter.hpp"

namespace timeloom {
namespace {

using Kind = WindowPoint::Kind;

// A window ends when its region is left, and only recorded regions are seen to be left.
void refuse_excluded(const Settings& settings, const WindowPoint& point, SettingId id) {
  if (point.kind != Kind::kRegion) return;
  Region region;
  region.name = point.region;
  region.group = point.region.substr(0, point.region.rfind('.'));
  if (!Filter(settings.rules()).excluded(region)) return;
  throw Error(settings.origin(id) + ": " + point.region +
              " is not recorded by the rules of --exclude and --include; include it [TL115]");
}

}  // namespace

Window window_of(const Settings& settings) {
  Window window;
  window.from = parse_window_point(settings.text(kSettings.from), settings.origin(kSettings.from));
  window.until =
      parse_window_point(settings.text(kSettings.until), settings.origin(kSettings.until));
  window.after = settings.number(kSettings.after);
  if (window.after != 0 && window.from.kind != Kind::kRegion) {
    throw Error(settings.origin(kSettings.after) +
                " counts calls of the region of --from; write --from REGION [TL113]");
  }
  const bool times = window.from.kind == Kind::kTime && window.until.kind == Kind::kTime;
  if (times && window.until.ns <= window.from.ns) {
    throw Error(settings.origin(kSettings.until) +
                ": the window ends before it begins; write a later time [TL114]");
  }
  refuse_excluded(settings, window.until, kSettings.until);
  return window;
}

}  // namespace timeloom
