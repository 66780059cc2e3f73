// The variables of Omnitrace (OMNITRACE_*, and ROCPROFSYS_* as it is called now): their types,
// defaults and texts, and its configuration files. Some are other names of settings, which apply()
// sets; the others choose the form of Omnitrace's reports.
//
// The conventions of Omnitrace 1.12 hold: a variable takes precedence over a configuration file,
// and OMNITRACE_ over the other spelling. The table is constant. An OmnitraceSettings object is a
// plain value: one writer, then any number of readers.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom {

// The layout of a run of this door, and the properties that hold its settings and names.
inline constexpr char kOmnitraceLayoutName[] = "omnitrace";
inline constexpr char kOmnitraceProperty[] = "timeloom::omnitrace";
inline constexpr char kOmnitraceNamesProperty[] = "timeloom::omnitrace_names";

enum class OmnitraceType : std::uint8_t { kBool, kNumber, kReal, kString };

// Whether a time in seconds or a frequency is in range: `--from` and `--until` take no longer
// times. False for infinity and NaN.
constexpr bool is_plausible(double number) noexcept { return number >= 0 && number < 1e9; }

struct OmnitraceBounds {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

struct OmnitraceVariable {
  std::string_view name;  // OMNITRACE_TRACE
  OmnitraceType type;
  std::string_view default_value;
  std::string_view meaning;         // one sentence without a full stop
  std::string_view no_effect = {};  // why it has no effect here; empty: it has one
  OmnitraceBounds bounds = {};      // of a whole number
};

std::span<const OmnitraceVariable> all_omnitrace_variables() noexcept;
// The variable with that name in either spelling; null: not known.
const OmnitraceVariable* find_omnitrace_variable(std::string_view name) noexcept;

class OmnitraceSettings {
 public:
  OmnitraceSettings() = default;
  // Reads the variables in `environment` (like environ(7)), and the configuration files that they
  // or `files` name. Throws Error for a value that cannot be read, a missing file, and an unknown
  // key in a file.
  explicit OmnitraceSettings(const char* const* environment,
                             const std::vector<std::string>& files = {});

  // As if the variable had been set so. Throws as the constructor does.
  void set(std::string_view name, std::string_view value, const std::string& origin);

  // Asking for a variable that is not in the table, or with the wrong type, is a mistake in the
  // program: throws std::logic_error.
  bool flag(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;
  bool given(std::string_view name) const;

  bool traces() const;    // whether perfetto-trace.proto is wanted
  bool profiles() const;  // whether call-tree reports are
  // The metrics of the reports, by the names that the user gave them.
  std::vector<std::string> components() const;

  // A line NAME=value for each variable that was given. from_text() reads them back and throws
  // Error for a text that as_text() does not write.
  std::string as_text() const;
  static OmnitraceSettings from_text(std::string_view text);

  // A line for the user for each deprecated spelling that was used, and each variable that is not
  // known.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  std::string value_of(const OmnitraceVariable& variable) const;
  void adopt_old_spellings();

  std::map<std::string_view, std::string> values_;  // checked; by the table's names
  std::vector<std::string> notes_;
};

// The requests that are not met, a line each: "OMNITRACE_USE_SAMPLING=ON: ...". Throws Error for an
// unknown metric.
std::vector<std::string> unmet_requests(const OmnitraceSettings& omnitrace);

// Sets the settings that the variables are other names of.
void apply(const OmnitraceSettings& omnitrace, Settings& settings);

// The description of a run that the variables ask for.
RunDescription describe(const OmnitraceSettings& omnitrace);

// A metric as OMNITRACE_TIMEMORY_COMPONENTS names it.
struct OmnitraceComponent {
  std::string_view name;
  std::vector<std::string_view> sampled;  // the counters of getrusage(2) that it needs
  std::string_view why_not = {};          // it cannot be measured here; empty: it can
};
// The metric with that name or alias; null: not known.
const OmnitraceComponent* find_omnitrace_component(std::string_view name) noexcept;

}  // namespace timeloom
