#include "settings/check.hpp"

#include <string>

#include "core/error.hpp"
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
  static_cast<void>(window_of(settings));
  check_results(settings, measured);
}

}  // namespace timeloom
