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

// Functions are given up one by one, by what the interpreter reports of calls of Python code.
void check_overhead(const Settings& settings) {
  if (!overhead_limit_of(settings)) return;
  for (const char* other : {"c-functions", "async-tasks"}) {
    if (!settings.flag(other)) continue;
    throw Error(settings.origin("overhead") + " cannot be kept with " + settings.origin(other) +
                "; leave one of them out");
  }
}

// A program may be run without recording it, as Score-P does; a block is there to be recorded.
void check_results(const Settings& settings, Measured measured) {
  if (measured == Measured::kBlock && settings.text("results") == "none") {
    throw Error(settings.origin("results") +
                ": with none nothing is recorded; write all, trace or profile");
  }
}

}  // namespace

void check(const Settings& settings, Measured measured) {
  check_tasks(settings);
  check_overhead(settings);
  static_cast<void>(window_of(settings));
  check_results(settings, measured);
}

}  // namespace timeloom
