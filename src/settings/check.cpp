#include "settings/check.hpp"

#include <string>

#include "core/error.hpp"
#include "settings/overhead_setting.hpp"
#include "settings/sample_setting.hpp"
#include "settings/window_settings.hpp"
#include "settings/workers_setting.hpp"
#include "settings/wrappers.hpp"

namespace timeloom {
namespace {

// Tasks are locations of a trace: a run that writes profiles, at once or after its size limit, has
// none.
void check_tasks(const Settings& settings) {
  if (!settings.flag(kSettings.async_tasks)) return;
  const bool profile = settings.flag(kSettings.profile);
  if (!profile && settings.text(kSettings.at_max_size) != "profile") return;
  throw Error(settings.origin(kSettings.async_tasks) +
              ": tasks are told apart in a trace only; leave it out, or " +
              (profile ? settings.origin(kSettings.profile)
                       : settings.origin(kSettings.at_max_size) + "=profile") +
              " [TL113]");
}

// Whether calls with different arguments are different regions.
bool labels_arguments(const Settings& settings) {
  return settings.text(kSettings.region_names) == "omnitrace" &&
         ("," + settings.text(kSettings.label) + ",").find(",args,") != std::string::npos;
}

// Functions are throttled one by one, by the interpreter's reports about calls of Python code.
void check_overhead(const Settings& settings) {
  if (!overhead_limit_of(settings)) return;
  for (const auto other : {kSettings.c_functions, kSettings.async_tasks}) {
    if (!settings.flag(other)) continue;
    throw Error(settings.origin(kSettings.overhead) + " cannot be kept with " +
                settings.origin(other) + "; leave one of them out [TL113]");
  }
  if (labels_arguments(settings)) {
    throw Error(settings.origin(kSettings.overhead) +
                " cannot be kept with the arguments of calls in " +
                settings.origin(kSettings.label) + "; leave one of them out [TL113]");
  }
}

// Samples replace calls: measurements of single calls cannot be recorded beside them.
[[noreturn]] void refuse_with_sampling(const Settings& settings, SettingId other) {
  throw Error(settings.origin(kSettings.sampling) + " records no calls, which " +
              settings.origin(other) + " needs; leave one of them out [TL113]");
}

void check_sampling(const Settings& settings) {
  if (!settings.flag(kSettings.sampling)) return;
  for (const auto other :
       {kSettings.c_functions, kSettings.async_tasks, kSettings.causes, kSettings.memory,
        kSettings.memory_python, kSettings.memory_all, kSettings.memory_events}) {
    if (settings.flag(other)) refuse_with_sampling(settings, other);
  }
  const SettingId of_calls[] = {kSettings.overhead,
                                kSettings.max_depth,
                                kSettings.function_exclude,
                                kSettings.metric_rusage,
                                kSettings.metric_rusage_per_process,
                                kSettings.metric_papi,
                                kSettings.metric_papi_per_process};
  for (const SettingId other : of_calls) {
    if (settings.given(other)) refuse_with_sampling(settings, other);
  }
  if (settings.text(kSettings.instrumenter) != "auto") {
    throw Error(settings.origin(kSettings.sampling) + " observes no calls; leave out " +
                settings.origin(kSettings.instrumenter) + " [TL113]");
  }
}

void check_window(const Settings& settings) {
  const Window window = window_of(settings);
  const bool by_region = window.from.kind == WindowPoint::Kind::kRegion ||
                         window.until.kind == WindowPoint::Kind::kRegion;
  if (!by_region || !settings.flag(kSettings.sampling)) return;
  throw Error(settings.origin(kSettings.sampling) +
              " sees no call that opens or closes a window; write times for --from and --until "
              "[TL113]");
}

void check_locks(const Settings& settings) {
  if (!settings.given(kSettings.thread_locks) || records_threads(settings)) return;
  throw Error(
      settings.origin(kSettings.thread_locks) +
      ": locks are recorded with threads of native code; write --thread pthread as well [TL113]");
}

// A program may be run without recording, as with Score-P; a block exists to be recorded.
void check_results(const Settings& settings, Measured measured) {
  if (measured != Measured::kProgram && settings.text(kSettings.results) == "none") {
    throw Error(settings.origin(kSettings.results) +
                ": with none nothing is recorded; write all, trace or profile [TL113]");
  }
}

// The end of calls that are open at the start must be seen, and no hook may stay behind.
void check_running(const Settings& settings) {
  const std::string instrumenter = settings.text(kSettings.instrumenter);
  if (instrumenter != "auto" && instrumenter != "monitoring") {
    throw Error(settings.origin(kSettings.instrumenter) +
                ": a running process is observed by the instrumenter \"monitoring\" only; leave "
                "it out [TL113]");
  }
  if (settings.flag(kSettings.async_tasks)) {
    throw Error(settings.origin(kSettings.async_tasks) +
                ": tasks that run already cannot be told apart; leave it out, or start the "
                "program with timeloom run [TL113]");
  }
}

}  // namespace

void check(const Settings& settings, Measured measured) {
  check_tasks(settings);
  check_overhead(settings);
  check_locks(settings);
  static_cast<void>(sample_period_of(settings));
  static_cast<void>(worker_choice_of(settings));
  check_sampling(settings);
  check_window(settings);
  check_results(settings, measured);
  if (measured == Measured::kRunning) check_running(settings);
}

}  // namespace timeloom
