// The registry of settings: one table defines the options of the command line, the
// TIMELOOM_* variables, the [tool.timeloom] keys of pyproject.toml, the help and
// docs/settings.md.
//
// The table is constant (settings_table.inc). A Settings object is a plain value: one writer, then
// any number of readers. Wrong values throw Error with the source in the message.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/filter.hpp"

namespace timeloom {

enum class SettingType : std::uint8_t { kBool, kInteger, kSize, kString, kChoice, kList };

struct Setting {
  std::string_view name;  // "buffer-size": --buffer-size, TIMELOOM_BUFFER_SIZE, key buffer-size
  SettingType type;
  std::string_view default_value;
  std::string_view group;                          // heading in the help
  std::string_view placeholder;                    // stands for the value in the help
  std::string_view meaning;                        // one sentence without a full stop
  std::span<const std::string_view> choices = {};  // of kChoice
  char short_name = 0;
  std::uint64_t minimum = 0;  // of kInteger and kSize
  std::uint64_t maximum = UINT64_MAX;
};

// The settings of the table as names for code: a wrong name does not compile, nor does a wrong
// type.
enum class SettingId : std::uint8_t {
#define TIMELOOM_SETTING(member, ...) member,
#include "settings/settings_table.inc"
#undef TIMELOOM_SETTING
};

template <SettingType kType>
struct SettingOf {
  SettingId id;
  constexpr operator SettingId() const noexcept { return id; }
};

struct SettingMembers {
#define TIMELOOM_SETTING(member, type, ...) \
  SettingOf<SettingType::type> member = {SettingId::member};
#include "settings/settings_table.inc"
#undef TIMELOOM_SETTING
};
inline constexpr SettingMembers kSettings;

const Setting& setting_of(SettingId id) noexcept;
std::span<const Setting> all_settings() noexcept;
const Setting* find_setting(std::string_view name) noexcept;  // null: no such setting
std::string variable_of(const Setting& setting);              // TIMELOOM_BUFFER_SIZE

// The candidate most like `name`; empty if none is similar enough.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);
std::string_view nearest_setting(std::string_view name);

// The values in force. Sources are applied from the weakest to the strongest:
// pyproject.toml, variables, command line. A later value replaces an earlier one; values
// of a list are added to it.
class Settings {
 public:
  // `origin` is the name that the user wrote, e.g. "--buffer-size"; the message of an Error starts
  // with it. A value never contains a zero byte.
  void set(const Setting& setting, std::string_view value, const std::string& origin);
  void set(SettingId id, std::string_view value, const std::string& origin) {
    set(setting_of(id), value, origin);
  }
  // The same, by a name that a user wrote. For an unknown name, the Error suggests the nearest one.
  void set(std::string_view name, std::string_view value, const std::string& origin);

  bool flag(SettingOf<SettingType::kBool> setting) const;
  std::uint64_t number(SettingOf<SettingType::kInteger> setting) const;  // 0: unset
  std::uint64_t number(SettingOf<SettingType::kSize> setting) const;     // in bytes; 0: unset
  std::string text(SettingOf<SettingType::kString> setting) const;
  std::string text(SettingOf<SettingType::kChoice> setting) const;
  std::vector<std::string> list(SettingOf<SettingType::kList> setting) const;

  // Whether any source has given it a value.
  bool given(SettingId id) const { return values_.contains(setting_of(id).name); }
  // The name that the user wrote, for the message of an Error; "--NAME" if no source has given it a
  // value.
  std::string origin(SettingId id) const;

  // The rules of include and exclude, in the order given.
  const std::vector<FilterRule>& rules() const noexcept { return rules_; }
  // `TIMELOOM_NAME=value` for every setting, as lines.
  std::string as_variables() const;
  // The same without loss: `TIMELOOM_NAME=value`, ended by a zero byte, for every setting that
  // was given and for each rule, in their order. take_record() reads one of them back.
  std::string as_records() const;
  // Throws Error for a record that is malformed or has a value that is not accepted.
  void take_record(std::string_view record);

 private:
  std::string value_of(const Setting& setting) const;
  std::uint64_t number_of(const Setting& setting) const;
  std::vector<std::string> patterns(bool include) const;

  struct Value {
    std::string text;  // checked
    std::string origin;
  };

  std::map<std::string_view, Value> values_;  // by the table's names
  std::vector<FilterRule> rules_;
};

// Applies the TIMELOOM_* variables. `environment` is like environ(7). Throws Error for a
// wrong value. Returns a line to print for each name that looks misspelt: the variable may
// have been set for all programs, so the program runs all the same.
std::vector<std::string> read_variables(Settings& settings, const char* const* environment);

// Bytes of "4096", "16M", "1 GiB"; throws an Error whose message starts with `origin`.
std::uint64_t parse_size(std::string_view text, const std::string& origin);

}  // namespace timeloom
