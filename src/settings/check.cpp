#include "settings/check.hpp"

#include <string>

#include "core/error.hpp"
#include "settings/overhead_setting.hpp"
#include "settings/window_settings.hpp"

namespace timeloom {
namespace {

// Tasks are tracks of a trace: where calls are folded there is none, or no longer.
void check_tasks(const Settings& settings) {
  if (!settings.flag("async-tasks")) return;
  const bool profile = settings.flag("profile");
  if (!profile && settings.text("at-max-size") != "profile") return;
  throw Error(settings.origin("async-tasks") +
              ": tasks are told apart in a trace only; leave it out, or " +
              (profile ? settings.origin("profile") : settings.origin("at-max-size") + "=profile"));
}

// Then each call is of a region by its arguments.
bool labels_arguments(const Settings& settings) {
  return settings.text("region-names") == "omnitrace" &&
         ("," + settings.text("label") + ",").find(",args,") != std::string::npos;
}

// Functions are given up one by one, by what the interpreter reports of calls of Python code.
void check_overhead(const Settings& settings) {
  if (!overhead_limit_of(settings)) return;
  for (const char* other : {"c-functions", "async-tasks"}) {
    if (!settings.flag(other)) continue;
    throw Error(settings.origin("overhead") + " cannot be kept with " + settings.origin(other) +
                "; leave one of them out");
  }
  if (labels_arguments(settings)) {
    throw Error(settings.origin("overhead") + " cannot be kept with the arguments of calls in " +
                settings.origin("label") + "; leave one of them out");
  }
}

void check_locks(const Settings& settings) {
  if (!settings.given("thread-locks") || settings.text("thread") == "pthread") return;
  throw Error(settings.origin("thread-locks") +
              ": locks are recorded with threads of native code; write --thread pthread as well");
}

// A program may be run without recording it, as Score-P does; a block is there to be recorded.
void check_results(const Settings& settings, Measured measured) {
  if (measured != Measured::kProgram && settings.text("results") == "none") {
    throw Error(settings.origin("results") +
                ": with none nothing is recorded; write all, trace or profile");
  }
}

// Calls that run when recording begins have to be seen to end, and nothing may stay behind.
void check_running(const Settings& settings) {
  const std::string instrumenter = settings.text("instrumenter");
  if (instrumenter != "auto" && instrumenter != "monitoring") {
    throw Error(settings.origin("instrumenter") +
                ": a running process is observed by the instrumenter \"monitoring\" only; leave "
                "it out");
  }
  if (settings.flag("async-tasks")) {
    throw Error(settings.origin("async-tasks") +
                ": tasks that run already cannot be told apart; leave it out, or start the "
                "program with timeloom run");
  }
}

}  // namespace

void check(const Settings& settings, Measured measured) {
  check_tasks(settings);
  check_overhead(settings);
  check_locks(settings);
  static_cast<void>(window_of(settings));
  check_results(settings, measured);
  if (measured == Measured::kRunning) check_running(settings);
}

}  // namespace timeloom
