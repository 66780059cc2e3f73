#include "doors/scorep/settings/scorep_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "settings/setting_words.hpp"

namespace timeloom {
namespace {

using enum ScorepType;

[[noreturn]] void refuse(const ScorepVariable& variable, std::string_view value,
                         const std::string& accepted) {
  throw Error("variable " + std::string(variable.name) + ": '" + std::string(value) +
              "' cannot be read; write " + accepted +
              ", see scorep-info config-vars --full [TL701]");
}

bool truth_of(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  long number = 0;
  const std::string_view digits = trimmed(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && end == digits.data() + digits.size() && number != 0;
}

std::uint64_t number_of(const ScorepVariable& variable, std::string_view value) {
  const std::string_view text = trimmed(value);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse(variable, value, "a whole number");
  }
  return number;
}

std::uint64_t size_of(const ScorepVariable& variable, std::string_view value) {
  constexpr std::string_view kUnits = "kmgtpe";
  const std::string accepted = "a size such as 16000k, 64M or 2G";
  const std::string text = lower(trimmed(value));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) refuse(variable, value, accepted);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unit = trimmed(unit);
  std::size_t power = 0;
  if (!unit.empty() && kUnits.find(unit.front()) != std::string_view::npos) {
    power = kUnits.find(unit.front()) + 1;
    unit.remove_prefix(1);
  }
  if (!unit.empty() && unit != "b") refuse(variable, value, accepted);
  if (power > 0 && number > (UINT64_MAX >> (10 * power))) refuse(variable, value, accepted);
  return number << (10 * power);
}

std::string option_of(const ScorepVariable& variable, std::string_view value) {
  const std::string word = lower(value);
  if (std::ranges::find(variable.choices, word) == variable.choices.end()) {
    refuse(variable, value, "one of " + joined(variable.choices));
  }
  return word == "default" ? std::string(variable.choices.front()) : word;
}

// The chosen members in the order of the table, with commas between them.
std::string set_of(const ScorepVariable& variable, std::string_view value) {
  std::set<std::string> chosen;
  const auto change = [&](const std::string& word, bool take) {
    if (std::ranges::find(variable.choices, word) == variable.choices.end()) {
      refuse(variable, value, "a list of " + joined(variable.choices) + ", default or none");
    }
    take ? (void)chosen.insert(word) : (void)chosen.erase(word);
  };
  const auto change_all = [&](std::string_view list, bool take) {
    for (const std::string_view word : variable.choices) {
      const bool listed =
          list.empty() ||
          ("," + std::string(list) + ",").find("," + std::string(word) + ",") != std::string::npos;
      if (listed && word != "all") change(std::string(word), take);
    }
  };
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" ,:;\t"), rest.size());
    std::string word = lower(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool take = !word.starts_with('~');
    if (!take) word.erase(0, 1);
    if (word.empty()) continue;
    if (word == "none" || word == "no")
      chosen.clear();
    else if (word == "all")
      change_all("", take);
    else if (word == "default")
      change_all(variable.default_value, take);
    else
      change(word, take);
  }
  std::string result;
  for (const std::string_view word : variable.choices) {
    if (chosen.contains(std::string(word)))
      result += (result.empty() ? "" : ",") + std::string(word);
  }
  return result;
}

// The value in the one form in which it is kept.
std::string checked(const ScorepVariable& variable, std::string_view value) {
  switch (variable.type) {
    case kBool: return truth_of(value) ? "true" : "false";
    case kNumber: return std::to_string(number_of(variable, value));
    case kSize: return std::to_string(size_of(variable, value));
    case kOption: return option_of(variable, value);
    case kSet: return set_of(variable, value);
    case kString:
    case kPath: break;
  }
  return std::string(value);
}

// 16000K, as Score-P writes it; 0 comes out as 0E there.
std::string with_unit(std::uint64_t size) {
  constexpr std::array<std::string_view, 7> kUnits = {"", "K", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  for (; size % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return std::to_string(size) + std::string(kUnits[unit]);
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '!')
      result += "'\\!'";
    else
      result += c;
  }
  return result + "'";
}

std::string shell_text(const ScorepVariable& variable, const std::string& value) {
  switch (variable.type) {
    case kBool:
    case kNumber: return value;
    case kSize: return with_unit(size_of(variable, value));
    case kString:
    case kPath:
    case kOption: return shell_quoted(value);
    case kSet: break;
  }
  std::string result;
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    result += (result.empty() ? "" : ",") + shell_quoted(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return result;
}

// Settings that take the value of a variable as it is.
constexpr std::pair<SettingId, std::string_view> kSameValue[] = {
    {kSettings.profile_depth, "SCOREP_PROFILING_MAX_CALLPATH_DEPTH"},
    {kSettings.filter_file, "SCOREP_FILTERING_FILE"},
    {kSettings.metric_papi, "SCOREP_METRIC_PAPI"},
    {kSettings.metric_papi_per_process, "SCOREP_METRIC_PAPI_PER_PROCESS"},
    {kSettings.metric_papi_sep, "SCOREP_METRIC_PAPI_SEP"},
    {kSettings.metric_rusage, "SCOREP_METRIC_RUSAGE"},
    {kSettings.metric_rusage_per_process, "SCOREP_METRIC_RUSAGE_PER_PROCESS"},
    {kSettings.metric_rusage_sep, "SCOREP_METRIC_RUSAGE_SEP"},
};

constexpr std::string_view kCuda = "SCOREP_CUDA_ENABLE";
constexpr std::string_view kMemory = "SCOREP_MEMORY_RECORDING";

// Settings that are on if a variable names anything to record. Words of SCOREP_KOKKOS_ENABLE
// (`regions`, `user` …) do not choose among the records.
constexpr std::pair<SettingId, std::string_view> kLoaded[] = {
    {kSettings.gpu, kCuda},
    {kSettings.kokkos, "SCOREP_KOKKOS_ENABLE"},
};

// Variables without an effect that ask for results which there will not be.
constexpr std::string_view kAskForMore[] = {
    "SCOREP_PROFILING_CLUSTERED_REGION",
    "SCOREP_TRACING_USE_SION",
    "SCOREP_SUBSTRATE_PLUGINS",
    "SCOREP_METRIC_PLUGINS",
    "SCOREP_METRIC_PERF",
    "SCOREP_METRIC_PERF_PER_PROCESS",
    "SCOREP_SELECTIVE_CONFIG_FILE",
    "SCOREP_ENABLE_UNWINDING",
    "SCOREP_LIBWRAP_ENABLE",
    "SCOREP_MPI_MEMORY_RECORDING",
    "SCOREP_OPENCL_ENABLE",
    "SCOREP_OPENACC_ENABLE",
    "SCOREP_HIP_ENABLE",
};

constexpr char kDepth[] = "SCOREP_PROFILING_MAX_CALLPATH_DEPTH";
constexpr char kFormat[] = "SCOREP_PROFILING_FORMAT";
constexpr char kRecordedMpiGroups[] = "SCOREP_MPI_ENABLE_GROUPS";

// Variables that are none of the measurement: of installations, of the compiler wrappers, of the
// Python bindings, and of plug-ins, which have names of their own.
constexpr std::string_view kOfOthers[] = {"SCOREP_ROOT",    "SCOREP_HOME",    "SCOREP_DIR",
                                          "SCOREP_PREFIX",  "SCOREP_PATH",    "SCOREP_BIN",
                                          "SCOREP_LIB",     "SCOREP_INCLUDE", "SCOREP_BASE",
                                          "SCOREP_VERSION", "SCOREP_INC",     "SCOREP_CONFIG"};
constexpr std::string_view kBeginsOfOthers[] = {
    "SCOREP_WRAPPER", "SCOREP_PYTHON_", "SCOREP_JUPYTER_", "SCOREP_SUBSTRATE_", "SCOREP_METRIC_"};

// Of a variable that is not in the table; empty: somebody else's.
std::string note_about(std::string_view name) {
  if (std::ranges::find(kOfOthers, name) != std::end(kOfOthers)) return {};
  // The common begin would make all names alike.
  constexpr std::size_t kBegin = std::string_view("SCOREP_").size();
  std::vector<std::string_view> ends;
  for (const ScorepVariable& variable : all_scorep_variables()) {
    ends.push_back(variable.name.substr(kBegin));
  }
  const std::string_view nearest = nearest_name(name.substr(kBegin), ends);
  const bool of_others = std::ranges::any_of(
      kBeginsOfOthers, [&](std::string_view begin) { return name.starts_with(begin); });
  if (of_others && (nearest.empty() || !nearest.starts_with(name.substr(kBegin)))) return {};
  return std::string(name) + ": no variable of this name has an effect here" +
         (nearest.empty() ? std::string() : "; did you mean SCOREP_" + std::string(nearest) + "?") +
         " [TL707]";
}

// Words by which users switch something off.
bool says_no(std::string_view value) {
  constexpr std::array<std::string_view, 5> kNo = {"no", "none", "false", "off", "0"};
  return std::ranges::find(kNo, lower(trimmed(value))) != kNo.end();
}

// Of a switch; Score-P takes any other word for no, too.
bool is_no(std::string_view value) {
  const std::string_view digits = trimmed(value);
  return digits.find_first_not_of('0') == std::string_view::npos || says_no(value);
}

// The value for the way in which the request is carried out.
std::string done(const ScorepVariable& variable, const std::string& value) {
  if (variable.name == kFormat) return value == "none" ? value : "cube4";
  if (variable.name == kRecordedMpiGroups) return checked(variable, "all");
  const bool more = std::ranges::find(kAskForMore, variable.name) != std::end(kAskForMore);
  return more && !(variable.type == kString && says_no(value))
             ? checked(variable, variable.default_value)
             : value;
}

const ScorepVariable& known(std::string_view name) {
  const ScorepVariable* variable = find_scorep_variable(name);
  if (variable == nullptr) throw std::logic_error("no variable is called " + std::string(name));
  return *variable;
}

}  // namespace

ScorepSettings::ScorepSettings(const char* const* environment) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with("SCOREP_") || equals == std::string_view::npos) continue;
    const ScorepVariable* variable = find_scorep_variable(entry.substr(0, equals));
    if (variable == nullptr) {
      std::string note = note_about(entry.substr(0, equals));
      if (!note.empty()) notes_.push_back(std::move(note));
      continue;
    }
    const std::string_view value = entry.substr(equals + 1);
    values_[variable->name] = checked(*variable, value);
    if (variable->type == kBool && !truth_of(value) && !is_no(value)) {
      notes_.push_back(std::string(entry) + ": neither true nor false; it counts as false [TL706]");
    }
  }
}

void ScorepSettings::set(std::string_view name, std::string_view value) {
  const ScorepVariable& variable = known(name);
  values_[variable.name] = checked(variable, value);
}

std::string ScorepSettings::value_of(const ScorepVariable& variable) const {
  const auto found = values_.find(variable.name);
  return found != values_.end() ? found->second : checked(variable, variable.default_value);
}

bool ScorepSettings::flag(std::string_view name) const {
  const ScorepVariable& variable = known(name);
  if (variable.type != kBool) throw std::logic_error(std::string(name) + " is not a switch");
  return value_of(variable) == "true";
}

std::uint64_t ScorepSettings::number(std::string_view name) const {
  const ScorepVariable& variable = known(name);
  if (variable.type != kNumber && variable.type != kSize) {
    throw std::logic_error(std::string(name) + " is not a number");
  }
  return number_of(variable, value_of(variable));
}

std::string ScorepSettings::text(std::string_view name) const { return value_of(known(name)); }

std::vector<std::string_view> ScorepSettings::explicitly_set() const {
  std::vector<std::string_view> names;
  for (const ScorepVariable& variable : all_scorep_variables()) {
    if (values_.contains(variable.name)) names.push_back(variable.name);
  }
  return names;
}

std::string ScorepSettings::as_cfg() const {
  std::string lines;
  for (const ScorepVariable& variable : all_scorep_variables()) {
    if (!variable.in_cfg) continue;
    const std::string value = done(variable, value_of(variable));
    lines += std::string(variable.name) + "=" + shell_text(variable, value) + "\n";
  }
  return lines;
}

std::vector<std::string> unmet_requests(const ScorepSettings& scorep, bool all) {
  std::vector<std::string> lines = scorep.notes();
  for (const std::string_view name : scorep.explicitly_set()) {
    const ScorepVariable& variable = known(name);
    const std::string value = scorep.text(name);
    if (name == kDepth && value == "0") {
      lines.push_back(std::string(kDepth) + "=0: call paths of every depth are kept apart [TL708]");
    }
    const bool missed = done(variable, value) != value;
    if (!missed && !(all && !variable.no_effect.empty())) continue;
    const std::string_view why =
        variable.no_effect.empty() ? "the profile is written as CUBE4" : variable.no_effect;
    lines.push_back(std::string(name) + "=" + shell_text(variable, value) + ": " +
                    std::string(why) + " [TL708]");
  }
  return lines;
}

std::vector<std::string> costs_of(const ScorepSettings& scorep) {
  if (!scorep.flag(kMemory)) return {};
  return {std::string(kMemory) +
          ": an allocation and its free take about 0.3 microseconds and 200 bytes of the disk; "
          "--memory alone has the same sums by call path for a tenth of that time [TL736]"};
}

bool writes_profile(const ScorepSettings& scorep) {
  return scorep.flag("SCOREP_ENABLE_PROFILING") && scorep.text("SCOREP_PROFILING_FORMAT") != "none";
}

void apply(const ScorepSettings& scorep, Settings& settings) {
  const auto set = [&](SettingId id, const std::string& value, std::string_view from) {
    if (!value.empty()) settings.set(id, value, "variable " + std::string(from));
  };
  const bool tracing = scorep.flag("SCOREP_ENABLE_TRACING");
  const bool profiling = writes_profile(scorep);
  set(kSettings.profile, profiling && !tracing ? "on" : "off", "SCOREP_ENABLE_PROFILING");
  const std::string_view results = profiling ? "all" : tracing ? "trace" : "none";
  set(kSettings.results, std::string(results), "SCOREP_ENABLE_TRACING");
  if (scorep.flag("SCOREP_IO_POSIX")) set(kSettings.io, "posix", "SCOREP_IO_POSIX");
  if (scorep.flag(kMemory)) set(kSettings.memory_events, "on", kMemory);
  for (const auto& [setting, variable] : kLoaded) {
    const std::string value = scorep.text(variable);
    if (!trimmed(value).empty() && !is_no(value)) set(setting, "on", variable);
  }
  const std::string words = scorep.text(kCuda);
  if (settings.flag(kSettings.gpu) && !is_no(words)) set(kSettings.gpu_records, words, kCuda);
  for (const auto& [setting, variable] : kSameValue) set(setting, scorep.text(variable), variable);
}

RunDescription describe(const ScorepSettings& scorep) {
  return {.properties = {{kLayout, kScorepLayoutName},
                         {kMachineName, scorep.text("SCOREP_MACHINE_NAME")},
                         {kProfileBaseName, scorep.text("SCOREP_PROFILING_BASE_NAME")}},
          .executable = scorep.text("SCOREP_EXECUTABLE"),
          .system_clock = scorep.text("SCOREP_TIMER") != "tsc"};
}

std::string scorep_summary_text() {
  return "Timeloom, in the place of Score-P " + std::string(kScorepVersion) +
         ":\n"
         "  Shared libraries:     yes\n"
         "  Python:               yes\n"
         "  Threads of Python:    yes\n"
         "  Profile:              CUBE4\n"
         "  Trace:                OTF2\n"
         "  Unwinding, sampling:  no\n"
         "  MPI:                  yes, with --mpp=mpi\n"
         "  OpenMP:               yes, with --thread=omp\n"
         "  Compiled code:        yes, with --compiler\n"
         "  Memory:               by call path, with --memory; as events, with\n"
         "                        SCOREP_MEMORY_RECORDING\n"
         "  Kokkos, CUDA:         yes, with --kokkos and --cuda\n"
         "  OpenCL, OpenACC, HIP: no\n";
}

std::string scorep_variables_text(bool full) {
  std::string text;
  for (const ScorepVariable& variable : all_scorep_variables()) {
    text += std::string(variable.name) + "\n";
    if (!full) continue;
    text += "  Description: " + std::string(variable.meaning) + "\n";
    text += "  Type: " + std::string(scorep_type_name(variable.type)) + "\n";
    text += "  Default: " + shell_text(variable, checked(variable, variable.default_value)) + "\n";
    if (!variable.choices.empty()) text += "  Values: " + joined(variable.choices) + "\n";
    text += variable.no_effect.empty()
                ? "\n"
                : "  Effect: none, " + std::string(variable.no_effect) + "\n\n";
  }
  return text;
}

}  // namespace timeloom
