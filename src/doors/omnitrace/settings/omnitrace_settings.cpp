#include "doors/omnitrace/settings/omnitrace_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "doors/omnitrace/settings/omnitrace_choices.hpp"
#include "doors/omnitrace/settings/omnitrace_config.hpp"
#include "doors/omnitrace/settings/omnitrace_units.hpp"
#include "settings/setting_words.hpp"
#include "settings/settings.hpp"

namespace timeloom {
namespace {

using enum OmnitraceType;

constexpr std::string_view kPrefix = "OMNITRACE_", kNewPrefix = "ROCPROFSYS_";

[[noreturn]] void refuse(const std::string& origin, std::string_view value,
                         const std::string& accepted) {
  throw Error(origin + ": '" + std::string(value) + "' cannot be read; write " + accepted +
              " [TL709]");
}

bool truth_of(std::string_view text, const std::string& origin) {
  constexpr std::array<std::string_view, 6> kYes = {"on", "yes", "true", "1", "t", "y"};
  constexpr std::array<std::string_view, 6> kNo = {"off", "no", "false", "0", "f", "n"};
  const std::string word = lower(trimmed(text));
  if (std::ranges::find(kYes, word) != kYes.end()) return true;
  if (std::ranges::find(kNo, word) != kNo.end()) return false;
  refuse(origin, text, "ON or OFF");
}

template <typename Number>
Number number_of(std::string_view value, const std::string& origin, const char* accepted) {
  const std::string_view text = trimmed(value);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(origin, value, accepted);
  return number;
}

std::string range_text(const OmnitraceBounds& bounds) {
  const std::string from = "a whole number from " + std::to_string(bounds.least);
  const bool open = bounds.most == OmnitraceBounds{}.most;
  return from + (open ? " on" : " to " + std::to_string(bounds.most));
}

// The value in the one form in which it is kept.
std::string checked(const OmnitraceVariable& variable, std::string_view value,
                    const std::string& origin) {
  if (value.find('\0') != std::string_view::npos || value.find('\n') != std::string_view::npos) {
    throw Error(origin + ": a line end or a zero byte is not accepted [TL709]");
  }
  switch (variable.type) {
    case kBool: return truth_of(value, origin) ? "ON" : "OFF";
    case kNumber: {
      const auto number = number_of<std::int64_t>(value, origin, "a whole number");
      const auto& [least, most] = variable.bounds;
      if (number < least || number > most) refuse(origin, value, range_text(variable.bounds));
      return std::to_string(number);
    }
    case kReal: {
      const auto number = number_of<double>(value, origin, "a number");
      if (!is_plausible(number)) refuse(origin, value, "a number from 0 on, less than 1e9");
      return std::string(trimmed(value));
    }
    case kString: break;
  }
  return std::string(value);
}

const OmnitraceVariable& known(std::string_view name) {
  const OmnitraceVariable* variable = find_omnitrace_variable(name);
  if (variable == nullptr) throw std::logic_error("no variable is called " + std::string(name));
  return *variable;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// Of a variable that is not in the table; empty: it is one of the installation, as module files set
// them, or of its own libraries and tests.
std::string note_about(std::string_view name) {
  constexpr std::array<std::string_view, 9> kOfOthers = {
      "ROOT", "DIR", "HOME", "PREFIX", "PATH", "VERSION", "LIBRARY", "SCRIPT_PATH", "LIBPATH"};
  const std::string_view prefix = name.starts_with(kPrefix) ? kPrefix : kNewPrefix;
  const std::string_view rest = name.substr(prefix.size());
  if (std::ranges::find(kOfOthers, rest) != kOfOthers.end()) return {};
  std::vector<std::string_view> names;
  for (const OmnitraceVariable& one : all_omnitrace_variables()) {
    names.push_back(one.name.substr(kPrefix.size()));
  }
  const std::string_view nearest = nearest_name(rest, names);
  return std::string(name) + ": no variable of this name has an effect here" +
         (nearest.empty() ? std::string()
                          : "; did you mean " + std::string(prefix) + std::string(nearest) + "?") +
         " [TL707]";
}

// The value of a variable of the environment; empty: there is none.
std::string value_in(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
  }
  return {};
}

// The files in the home directory that are read unless others are named.
std::vector<std::string> usual_files(const char* const* environment) {
  std::vector<std::string> files;
  const std::string home = value_in(environment, "HOME");
  if (home.empty()) return files;
  for (const char* name :
       {".rocprofsys.cfg", ".rocprofsys.json", ".omnitrace.cfg", ".omnitrace.json"}) {
    const std::filesystem::path path = std::filesystem::path(home) / name;
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(path, unreadable)) files.push_back(path.string());
  }
  return files;
}

}  // namespace

OmnitraceSettings::OmnitraceSettings(const char* const* environment,
                                     const std::vector<std::string>& files) {
  // The new spelling first, so that the old one replaces it.
  OmnitraceSettings given;
  for (const std::string_view prefix : {kNewPrefix, kPrefix}) {
    for (const char* const* one = environment; *one != nullptr; ++one) {
      const std::string_view entry = *one;
      const std::size_t equals = entry.find('=');
      if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
      const std::string_view name = entry.substr(0, equals);
      if (find_omnitrace_variable(name) == nullptr) {
        if (std::string note = note_about(name); !note.empty()) notes_.push_back(note);
        continue;
      }
      if (equals + 1 == entry.size()) continue;
      given.set(name, entry.substr(equals + 1), "variable " + std::string(name));
    }
  }
  std::vector<std::string> named = split(given.text("OMNITRACE_CONFIG_FILE"), ":;");
  named.insert(named.end(), files.begin(), files.end());
  if (named.empty()) named = usual_files(environment);
  if (given.flag("OMNITRACE_SUPPRESS_CONFIG")) named.clear();
  const Lookup lookup = [environment](std::string_view name) {
    return value_in(environment, name);
  };
  bool strict = given.flag("OMNITRACE_STRICT_CONFIG");
  for (const std::string& file : named) {
    const std::vector<ConfigLine> lines = read_omnitrace_config(file, lookup);
    for (const ConfigLine& line : lines) {
      if (find_omnitrace_variable(line.key) != nullptr) {
        set(line.key, line.value, line.origin);
        continue;
      }
      if (!given.given("OMNITRACE_STRICT_CONFIG")) strict = flag("OMNITRACE_STRICT_CONFIG");
      const std::string complaint = line.origin + ": no variable is called '" + line.key + "'";
      if (strict) throw Error(complaint + "; OMNITRACE_STRICT_CONFIG=OFF passes over it [TL713]");
      notes_.push_back(complaint + " [TL713]");
    }
  }
  for (const auto& [name, value] : given.values_) values_[name] = value;
  adopt_old_spellings();
}

void OmnitraceSettings::adopt_old_spellings() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSpellings = {{
      {"OMNITRACE_USE_PERFETTO", "OMNITRACE_TRACE"},
      {"OMNITRACE_USE_TIMEMORY", "OMNITRACE_PROFILE"},
      {"OMNITRACE_OUTPUT_FILE", "OMNITRACE_PERFETTO_FILE"},
  }};
  for (const auto& [old, now] : kSpellings) {
    if (!given(old)) continue;
    notes_.push_back(std::string(old) + " is an old name of " + std::string(now) + " [TL718]");
    if (!given(now)) values_[known(now).name] = text(old);
  }
}

void OmnitraceSettings::set(std::string_view name, std::string_view value,
                            const std::string& origin) {
  const OmnitraceVariable* variable = find_omnitrace_variable(name);
  if (variable == nullptr)
    throw Error(origin + ": no variable is called '" + std::string(name) + "' [TL713]");
  values_[variable->name] = checked(*variable, value, origin);
}

std::string OmnitraceSettings::value_of(const OmnitraceVariable& variable) const {
  const auto found = values_.find(variable.name);
  if (found != values_.end()) return found->second;
  if (variable.default_value.empty()) return variable.type == kBool ? "OFF" : "";
  return std::string(variable.default_value);
}

bool OmnitraceSettings::given(std::string_view name) const {
  return values_.contains(known(name).name);
}

bool OmnitraceSettings::flag(std::string_view name) const {
  const OmnitraceVariable& variable = known(name);
  if (variable.type != kBool) throw std::logic_error(std::string(name) + " is not a switch");
  return value_of(variable) == "ON";
}

std::int64_t OmnitraceSettings::number(std::string_view name) const {
  const OmnitraceVariable& variable = known(name);
  if (variable.type != kNumber) throw std::logic_error(std::string(name) + " is not a number");
  return number_of<std::int64_t>(value_of(variable), std::string(name), "a whole number");
}

double OmnitraceSettings::real(std::string_view name) const {
  const OmnitraceVariable& variable = known(name);
  if (variable.type != kReal) throw std::logic_error(std::string(name) + " is not a real number");
  return number_of<double>(value_of(variable), std::string(name), "a number");
}

std::string OmnitraceSettings::text(std::string_view name) const { return value_of(known(name)); }

bool OmnitraceSettings::traces() const {
  if (given("OMNITRACE_TRACE")) return flag("OMNITRACE_TRACE");
  return !flag("OMNITRACE_PROFILE");
}

bool OmnitraceSettings::profiles() const {
  if (given("OMNITRACE_PROFILE")) return flag("OMNITRACE_PROFILE");
  return !traces();
}

std::vector<std::string> OmnitraceSettings::components() const {
  return split(text("OMNITRACE_TIMEMORY_COMPONENTS"), ", ;\t");
}

std::string OmnitraceSettings::as_text() const {
  std::string lines;
  for (const auto& [name, value] : values_) lines += std::string(name) + "=" + value + "\n";
  return lines;
}

OmnitraceSettings OmnitraceSettings::from_text(std::string_view text) {
  OmnitraceSettings settings;
  for (const std::string& line : split(text, "\n")) {
    const std::size_t equals = std::min(line.find('='), line.size());
    settings.set(line.substr(0, equals),
                 std::string_view(line).substr(std::min(equals + 1, line.size())),
                 "the settings of the run");
  }
  return settings;
}

std::vector<std::string> unmet_requests(const OmnitraceSettings& omnitrace) {
  std::vector<std::string> lines;
  for (const OmnitraceVariable& variable : all_omnitrace_variables()) {
    if (variable.no_effect.empty() || !omnitrace.given(variable.name)) continue;
    const std::string value = omnitrace.text(variable.name);
    if (value == variable.default_value || (variable.type == kBool && value == "OFF")) continue;
    lines.push_back(std::string(variable.name) + "=" + value + ": " +
                    std::string(variable.no_effect) + " [TL708]");
  }
  for (std::string& line : unmet_choices(omnitrace)) lines.push_back(std::move(line));
  for (std::string& line : unknown_units(omnitrace)) lines.push_back(std::move(line));
  for (const std::string& name : omnitrace.components()) {
    const OmnitraceComponent* component = find_omnitrace_component(name);
    if (component == nullptr) {
      throw Error("OMNITRACE_TIMEMORY_COMPONENTS: no metric is called '" + name +
                  "'; see docs/omnitrace.md [TL709]");
    }
    if (component->why_not.empty()) continue;
    lines.push_back("OMNITRACE_TIMEMORY_COMPONENTS: " + name +
                    " is not measured: " + std::string(component->why_not) + " [TL708]");
  }
  return lines;
}

void apply(const OmnitraceSettings& omnitrace, Settings& settings) {
  const auto set = [&](SettingId id, const std::string& value, std::string_view from) {
    settings.set(id, value, "variable " + std::string(from));
  };
  const bool wanted = omnitrace.traces() || omnitrace.profiles();
  if (!omnitrace.flag("OMNITRACE_ENABLED") || !wanted)
    set(kSettings.results, "none", "OMNITRACE_ENABLED");
  if (!omnitrace.flag("OMNITRACE_INIT_ENABLED"))
    set(kSettings.paused, "on", "OMNITRACE_INIT_ENABLED");
  const auto [delay, duration] = trace_window(omnitrace);
  const auto milliseconds = [](double seconds) {
    return std::to_string(std::llround(seconds * 1000)) + "ms";
  };
  if (delay > 0) set(kSettings.from, milliseconds(delay), "OMNITRACE_TRACE_DELAY");
  if (duration > 0)
    set(kSettings.until, milliseconds(delay + duration), "OMNITRACE_TRACE_DURATION");
  std::set<std::string_view> sampled;
  for (const std::string& name : omnitrace.components()) {
    const OmnitraceComponent* component = find_omnitrace_component(name);
    if (component == nullptr || !omnitrace.profiles()) continue;
    sampled.insert(component->sampled.begin(), component->sampled.end());
  }
  const std::vector<std::string> counters(sampled.begin(), sampled.end());
  if (!counters.empty())
    set(kSettings.metric_rusage, joined(counters), "OMNITRACE_TIMEMORY_COMPONENTS");
  const std::vector<std::string> events = split(omnitrace.text("OMNITRACE_PAPI_EVENTS"), ", ;\t");
  if (!events.empty()) set(kSettings.metric_papi, joined(events), "OMNITRACE_PAPI_EVENTS");
}

RunDescription describe(const OmnitraceSettings& omnitrace) {
  RunDescription description;
  description.properties = {{kLayout, kOmnitraceLayoutName},
                            {kOmnitraceProperty, omnitrace.as_text()}};
  return description;
}

}  // namespace timeloom
