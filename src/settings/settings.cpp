#include "settings/settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "core/error.hpp"
#include "core/mpi/spawned.hpp"
#include "settings/launched_rank.hpp"
#include "settings/setting_words.hpp"

namespace timeloom {
namespace {

using enum SettingType;

constexpr std::string_view kPrefix = "TIMELOOM_";

// Variables of ours that are not settings: the interpreter to start, and variables of our
// scripts and tests.
constexpr std::array<std::string_view, 6> kNoSettings = {"TIMELOOM_PYTHON",  "TIMELOOM_PYTHONS",
                                                         "TIMELOOM_PROGRAM", kJobVariable,
                                                         kRankVariable,      kSpawnVariable};

[[noreturn]] void refuse(const std::string& origin, std::string_view value,
                         const std::string& accepted) {
  throw Error(origin + ": '" + std::string(value) + "' is not accepted; write " + accepted +
              " [TL101]");
}

bool parse_bool(std::string_view text, const std::string& origin) {
  const std::string word = lower(text);
  if (word == "on" || word == "true" || word == "yes" || word == "1") {
    return true;
  }
  if (word == "off" || word == "false" || word == "no" || word == "0") {
    return false;
  }
  refuse(origin, text, "on or off");
}

std::uint64_t parse_integer(std::string_view text, const std::string& origin) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse(origin, text, "a whole number");
  }
  return value;
}

// The size as a person would write it: 1M, not 1048576.
std::string size_text(const Setting& setting, std::uint64_t value) {
  std::string_view units = setting.type == kSize ? "KMGT" : "";
  std::string unit;
  for (; !units.empty() && value >= 1024 && value % 1024 == 0; units.remove_prefix(1)) {
    value /= 1024;
    unit = units.front();
  }
  return std::to_string(value) + unit;
}

void check_range(const Setting& setting, std::uint64_t value, std::string_view text,
                 const std::string& origin) {
  if (value >= setting.minimum && value <= setting.maximum) return;
  const std::string least = size_text(setting, setting.minimum);
  const bool bounded = setting.maximum != std::numeric_limits<std::uint64_t>::max();
  refuse(origin, text,
         bounded ? "a value from " + least + " to " + size_text(setting, setting.maximum)
                 : "a value of at least " + least);
}

// The value in normal form.
std::string checked(const Setting& setting, std::string_view value, const std::string& origin) {
  switch (setting.type) {
    case kBool: return parse_bool(value, origin) ? "on" : "off";
    case kInteger: {
      const std::uint64_t number = parse_integer(value, origin);
      check_range(setting, number, value, origin);
      return std::to_string(number);
    }
    case kSize: {
      const std::uint64_t bytes = parse_size(value, origin);
      check_range(setting, bytes, value, origin);
      return std::to_string(bytes);
    }
    case kChoice:
      if (std::ranges::find(setting.choices, value) == setting.choices.end()) {
        refuse(origin, value, "one of " + joined(setting.choices));
      }
      return std::string(value);
    case kString:
      if (value.empty()) {
        throw Error(origin + " is empty; give a value or leave it out [TL102]");
      }
      return std::string(value);
    case kList: break;
  }
  return std::string(value);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) {
      parts.emplace_back(part);
    }
  }
  return parts;
}

bool is_include(const Setting& setting) { return &setting == &setting_of(kSettings.include); }

// The complaint about the name of a variable; empty: there is none. A name that is almost a
// setting's name is taken for a misspelling. Others belong to other programs: module systems
// set TIMELOOM_ROOT and the like.
std::string note_on(std::string_view variable) {
  if (std::ranges::find(kNoSettings, variable) != kNoSettings.end()) return {};
  std::string name;
  for (const char c : variable.substr(kPrefix.size())) {
    name += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::string_view nearest = nearest_setting(name);
  if (nearest.empty()) {
    return {};
  }
  const std::string meant = variable_of(*find_setting(nearest));
  return meant == variable
             ? std::string()
             : std::string(variable) + " is not a setting; did you mean " + meant + "? [TL104]";
}

// The setting that a word in the place of `on` switches on; nullptr: the word is none.
const Setting* meant_by(const Setting& setting, std::string_view value) {
  if (&setting != &setting_of(kSettings.memory)) return nullptr;
  if (value == "all") return &setting_of(kSettings.memory_all);
  if (value == "events") return &setting_of(kSettings.memory_events);
  return value == "python" ? &setting_of(kSettings.memory_python) : nullptr;
}

}  // namespace

void Settings::set(const Setting& setting, std::string_view value, const std::string& origin) {
  if (value.find('\0') != std::string_view::npos) {
    throw Error(origin + ": a zero byte is not accepted [TL103]");
  }
  if (const Setting* const meant = meant_by(setting, value)) return set(*meant, "on", origin);
  if (setting.type != kList) {
    values_[setting.name] = {checked(setting, value, origin), origin};
    if (&setting == &setting_of(kSettings.memory) && !flag(kSettings.memory)) {
      for (const auto& kind :
           {kSettings.memory_all, kSettings.memory_python, kSettings.memory_events}) {
        values_.erase(setting_of(kind).name);
      }
    }
    return;
  }
  const bool include = is_include(setting);
  for (std::string& pattern : split_list(value)) {
    rules_.push_back({include, std::move(pattern)});
  }
}

void Settings::set(std::string_view name, std::string_view value, const std::string& origin) {
  const Setting* setting = find_setting(name);
  if (setting == nullptr) {
    const std::string_view nearest = nearest_setting(name);
    throw Error(origin + ": no such setting; " +
                (nearest.empty() ? "see timeloom run --help"
                                 : "did you mean " + std::string(nearest) + "?") +
                " [TL104]");
  }
  set(*setting, value, origin);
}

std::string Settings::value_of(const Setting& setting) const {
  const auto found = values_.find(setting.name);
  if (found != values_.end()) {
    return found->second.text;
  }
  return setting.default_value.empty() ? std::string()
                                       : checked(setting, setting.default_value, "default");
}

std::string Settings::origin(SettingId id) const {
  const Setting& setting = setting_of(id);
  const auto found = values_.find(setting.name);
  return found != values_.end() ? found->second.origin : "--" + std::string(setting.name);
}

bool Settings::flag(SettingOf<kBool> setting) const {
  return value_of(setting_of(setting)) == "on";
}

std::uint64_t Settings::number_of(const Setting& setting) const {
  const std::string value = value_of(setting);
  return value.empty() ? 0 : parse_integer(value, std::string(setting.name));
}

std::uint64_t Settings::number(SettingOf<kInteger> setting) const {
  return number_of(setting_of(setting));
}

std::uint64_t Settings::number(SettingOf<kSize> setting) const {
  return number_of(setting_of(setting));
}

std::string Settings::text(SettingOf<kString> setting) const {
  return value_of(setting_of(setting));
}

std::string Settings::text(SettingOf<kChoice> setting) const {
  return value_of(setting_of(setting));
}

std::vector<std::string> Settings::patterns(bool include) const {
  std::vector<std::string> result;
  for (const FilterRule& rule : rules_) {
    if (rule.include == include) result.push_back(rule.pattern);
  }
  return result;
}

std::vector<std::string> Settings::list(SettingOf<kList> setting) const {
  return patterns(setting == kSettings.include);
}

std::string Settings::as_variables() const {
  std::string lines;
  for (const Setting& setting : all_settings()) {
    std::string value = value_of(setting);
    if (setting.type == kList) {
      for (const std::string& pattern : patterns(is_include(setting))) {
        value += (value.empty() ? "" : ",") + pattern;
      }
    }
    lines += variable_of(setting) + "=" + value + "\n";
  }
  return lines;
}

std::string Settings::as_records() const {
  std::string records;
  const auto add = [&](const Setting& setting, const std::string& value) {
    records += variable_of(setting) + "=" + value + '\0';
  };
  for (const auto& [name, value] : values_) add(*find_setting(name), value.text);
  for (const FilterRule& rule : rules_) {
    add(setting_of(rule.include ? kSettings.include : kSettings.exclude), rule.pattern);
  }
  return records;
}

void Settings::take_record(std::string_view record) {
  const std::size_t equals = std::min(record.find('='), record.size());
  const std::string variable(record.substr(0, equals));
  const auto setting = std::ranges::find(all_settings(), variable, variable_of);
  if (equals == record.size() || setting == all_settings().end()) {
    throw Error("no record of a setting: '" + std::string(record.substr(0, 80)) + "' [TL117]");
  }
  set(*setting, record.substr(equals + 1), variable);
}

std::vector<std::string> read_variables(Settings& settings, const char* const* environment) {
  std::vector<std::string> notes;
  std::map<std::string_view, std::string_view> ours;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (entry.starts_with(kPrefix) && equals != std::string_view::npos) {
      std::string note = note_on(entry.substr(0, equals));
      if (!note.empty()) notes.push_back(std::move(note));
      ours[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  }
  // In the order of the table, so that exclude comes before include in whatever order the
  // environment has them.
  for (const Setting& setting : all_settings()) {
    const std::string variable = variable_of(setting);
    const auto found = ours.find(variable);
    if (found != ours.end() && !found->second.empty()) {
      settings.set(setting, found->second, "variable " + variable);
    }
  }
  return notes;
}

std::uint64_t parse_size(std::string_view text, const std::string& origin) {
  const std::string accepted = "a size such as 1M, 16M or 2G";
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    refuse(origin, text, accepted);
  }
  std::string unit = lower(text.substr(static_cast<std::size_t>(end - text.data())));
  std::erase(unit, ' ');
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "m", "g", "t"};
  for (unsigned power = 0; power < kUnits.size(); ++power) {
    const std::string letter(kUnits[power]);
    const bool bytes =
        unit == letter || unit == letter + "b" || (power > 0 && unit == letter + "ib");
    if (bytes) {
      if (value > (UINT64_MAX >> (10 * power))) {
        refuse(origin, text, accepted);
      }
      return value << (10 * power);
    }
  }
  refuse(origin, text, accepted);
}

}  // namespace timeloom
