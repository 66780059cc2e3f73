// The variables of Score-P (SCOREP_*): their types, defaults and texts, their
// accepted values, and which of them have an effect here. They are other names of
// settings; apply() has the names of both.
//
// The conventions of Score-P 8.4 hold: a variable that is not set has its default, an empty one
// counts as set. The table is constant. A ScorepSettings object is a plain value: one writer, then
// any number of readers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom {

// The version of Score-P whose conventions are followed.
inline constexpr std::string_view kScorepVersion = "8.4";

enum class ScorepType : std::uint8_t { kBool, kNumber, kSize, kString, kPath, kOption, kSet };

struct ScorepVariable {
  std::string_view name;  // SCOREP_ENABLE_PROFILING
  ScorepType type;
  std::string_view default_value;
  std::string_view meaning;                        // one sentence without a full stop
  std::string_view no_effect = {};                 // why it has no effect here; empty: it has one
  std::span<const std::string_view> choices = {};  // of kOption and kSet
  bool in_cfg = true;                              // has a line in scorep.cfg
};

// In the order in which Score-P registers them and writes them to scorep.cfg.
std::span<const ScorepVariable> all_scorep_variables() noexcept;
const ScorepVariable* find_scorep_variable(std::string_view name) noexcept;  // null: not known
std::string_view scorep_type_name(ScorepType type) noexcept;  // as scorep-info writes it

class ScorepSettings {
 public:
  // Reads the SCOREP_* variables in `environment` (like environ(7)). Throws Error, naming the
  // variable, for a value that cannot be read.
  explicit ScorepSettings(const char* const* environment);

  // As if the variable had been set so. Throws as the constructor does.
  void set(std::string_view name, std::string_view value);

  // Asking for a variable that is not in the table, or with the wrong type, is a
  // mistake in the program: throws std::logic_error.
  bool flag(std::string_view name) const;
  std::uint64_t number(std::string_view name) const;  // kNumber, and kSize in bytes
  std::string text(std::string_view name) const;      // kString, kPath, kOption

  // A line for each variable of the environment that is not in the table and is not known to belong
  // to another program.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

  // The names of the variables that were set, in the order of the table.
  std::vector<std::string_view> explicitly_set() const;
  // The text of scorep.cfg: NAME=value for each variable, for a POSIX shell to read. If a request
  // was not followed, the file has the value that was used in its place.
  std::string as_cfg() const;

 private:
  std::string value_of(const ScorepVariable& variable) const;

  std::map<std::string_view, std::string> values_;  // checked; by the table's names
  std::vector<std::string> notes_;
};

// The notes, and the requests of variables that are not met, a line each:
// "SCOREP_CUDA_ENABLE=true: ...". Without `all` only requests that would change the results; with
// it all of them.
std::vector<std::string> unmet_requests(const ScorepSettings& scorep, bool all);

// What the variables make dear, a line each.
std::vector<std::string> costs_of(const ScorepSettings& scorep);

// Whether a profile is to be written. (A trace is written if SCOREP_ENABLE_TRACING is set.)
bool writes_profile(const ScorepSettings& scorep);
// Sets the settings that the variables are other names of.
void apply(const ScorepSettings& scorep, Settings& settings);

// The description of a run that the variables ask for.
RunDescription describe(const ScorepSettings& scorep);

// Text of `scorep-info config-summary`.
std::string scorep_summary_text();
// Text of `scorep-info config-vars`: for each variable a line, or (`full`) its whole entry in the
// table and its present value.
std::string scorep_variables_text(bool full);

}  // namespace timeloom
