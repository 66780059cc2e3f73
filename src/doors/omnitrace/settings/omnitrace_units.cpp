#include "doors/omnitrace/settings/omnitrace_units.hpp"

#include <algorithm>
#include <string_view>

#include "settings/setting_words.hpp"

namespace timeloom {
namespace {

struct NamedUnit {
  std::vector<std::string_view> names;  // the first is shown
  double value;
};

const std::vector<NamedUnit> kTimeUnits = {
    {{"nsec", "ns", "nanosecond", "nanoseconds"}, 1},
    {{"usec", "us", "microsecond", "microseconds"}, 1e3},
    {{"msec", "ms", "millisecond", "milliseconds"}, 1e6},
    {{"csec", "centisecond", "centiseconds"}, 1e7},
    {{"dsec", "decisecond", "deciseconds"}, 1e8},
    {{"sec", "s", "second", "seconds"}, 1e9},
    {{"min", "minute", "minutes"}, 60e9},
    {{"hr", "hour", "hours"}, 3600e9},
};

const std::vector<NamedUnit> kMemoryUnits = {
    {{"B", "byte", "bytes"}, 1},
    {{"KB", "kilobyte", "kilobytes"}, 1e3},
    {{"MB", "megabyte", "megabytes"}, 1e6},
    {{"GB", "gigabyte", "gigabytes"}, 1e9},
    {{"TB", "terabyte", "terabytes"}, 1e12},
    {{"KiB", "kibibyte", "kibibytes"}, 1024.0},
    {{"MiB", "mebibyte", "mebibytes"}, 1024.0 * 1024},
    {{"GiB", "gibibyte", "gibibytes"}, 1024.0 * 1024 * 1024},
    {{"TiB", "tebibyte", "tebibytes"}, 1024.0 * 1024 * 1024 * 1024},
};

struct UnitVariable {
  const char* name;
  const std::vector<NamedUnit>& units;
  const char* quantity;
  OmnitraceUnit usual;
};

const UnitVariable kTimes = {"OMNITRACE_TIMING_UNITS", kTimeUnits, "times are", {"sec", 1e9}};
const UnitVariable kMemory = {"OMNITRACE_MEMORY_UNITS", kMemoryUnits, "memory is", {"MB", 1e6}};

// Null: the name is not known.
const NamedUnit* find_unit(const UnitVariable& variable, const OmnitraceSettings& omnitrace) {
  const std::string wanted = lower(omnitrace.text(variable.name));
  const auto found = std::ranges::find_if(variable.units, [&](const NamedUnit& unit) {
    return std::ranges::any_of(unit.names,
                               [&](std::string_view name) { return lower(name) == wanted; });
  });
  return found == variable.units.end() ? nullptr : &*found;
}

OmnitraceUnit unit_of(const UnitVariable& variable, const OmnitraceSettings& omnitrace) {
  const NamedUnit* const unit = find_unit(variable, omnitrace);
  if (unit == nullptr) return variable.usual;
  return {std::string(unit->names.front()), unit->value};
}

}  // namespace

OmnitraceUnit time_unit(const OmnitraceSettings& omnitrace) { return unit_of(kTimes, omnitrace); }
OmnitraceUnit memory_unit(const OmnitraceSettings& omnitrace) {
  return unit_of(kMemory, omnitrace);
}

std::vector<std::string> unknown_units(const OmnitraceSettings& omnitrace) {
  std::vector<std::string> lines;
  for (const UnitVariable* const variable : {&kTimes, &kMemory}) {
    if (find_unit(*variable, omnitrace) != nullptr) continue;
    lines.push_back(std::string(variable->name) + "=" + omnitrace.text(variable->name) +
                    ": there is no such unit; " + variable->quantity + " in " +
                    variable->usual.name + " [TL708]");
  }
  return lines;
}

}  // namespace timeloom
