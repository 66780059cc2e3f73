// The table of settings, and the look-up of settings by name.
#include <algorithm>
#include <array>
#include <cctype>

#include "core/text/edit_distance.hpp"
#include "settings/settings.hpp"

namespace timeloom {
namespace {

using enum SettingType;

constexpr std::string_view kRecording = "Recorded regions and events";
constexpr std::string_view kResult = "Where the result goes";
constexpr std::string_view kLimits = "Memory and disk";

constexpr std::array<std::string_view, 6> kInstrumenters = {"auto",    "monitoring", "frame",
                                                            "profile", "trace",      "dummy"};

constexpr std::array<std::string_view, 2> kIo = {"none", "posix"};
constexpr std::array<std::string_view, 6> kThread = {
    "none", "pthread", "omp", "omp:libomp", "pthread,omp", "pthread,omp:libomp"};
constexpr std::array<std::string_view, 3> kFollow = {"workers", "all", "none"};
constexpr std::array<std::string_view, 3> kRecordArguments = {"all", "masked", "none"};
constexpr std::array<std::string_view, 3> kAtMaxSize = {"stop", "ring", "profile"};
constexpr std::array<std::string_view, 3> kLayouts = {"timeloom", "scorep", "omnitrace"};
constexpr std::array<std::string_view, 3> kRegionNames = {"qualified", "scorep", "omnitrace"};
constexpr std::array<std::string_view, 2> kSampleSignals = {"urg", "winch"};
constexpr std::array<std::string_view, 6> kLogging = {"off",     "debug", "info",
                                                      "warning", "error", "critical"};
constexpr std::array<std::string_view, 2> kTaskLayouts = {"lanes", "locations"};
constexpr std::array<std::string_view, 2> kLocationNameChoices = {"python", "scorep"};
constexpr std::array<std::string_view, 4> kResults = {"all", "trace", "profile", "none"};
constexpr std::array<std::string_view, 2> kTraceFormats = {"otf2", "packed"};

constexpr std::array kTable = {
#define TIMELOOM_SETTING(member, type, name, ...) Setting{name, type, __VA_ARGS__},
#include "settings/settings_table.inc"
#undef TIMELOOM_SETTING
};

}  // namespace

std::span<const Setting> all_settings() noexcept { return kTable; }

const Setting& setting_of(SettingId id) noexcept { return kTable[static_cast<std::size_t>(id)]; }

const Setting* find_setting(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTable, name, &Setting::name);
  return found == kTable.end() ? nullptr : &*found;
}

std::string variable_of(const Setting& setting) {
  std::string name = "TIMELOOM_";
  for (const char c : setting.name) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool begins = name.size() >= 3 && candidate.starts_with(name);
    const std::size_t d = begins ? 1 : edit_distance(name, candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string_view nearest_setting(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Setting& setting : kTable) {
    names.push_back(setting.name);
  }
  return nearest_name(name, names);
}

}  // namespace timeloom
