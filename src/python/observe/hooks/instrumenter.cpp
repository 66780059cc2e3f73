#include "python/observe/hooks/instrumenter.hpp"

#include <stdexcept>
#include <string>

#include "core/error.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/observe/hooks/hook_probe.hpp"
#include "python/observe/hooks/sampled_code.hpp"
#include "settings/overhead_setting.hpp"

namespace timeloom::python {

const Instrumenter kDummy{"dummy", {}, false, [](const InstrumentOptions&) { return true; }, [] {}};

namespace {

const Instrumenter* const kInstrumenters[] = {&kMonitoring, &kFrame, &kProfile, &kTrace, &kDummy};

// Why there are these defaults: monitoring costs nothing where it is disabled
// and leaves the C stack alone; before 3.12 the frame hook is the cheapest, where it is called for
// every function.
const Instrumenter* choose(const InstrumentOptions& what) {
  if (kHasMonitoring) return &kMonitoring;
  if (what.c_functions) return &kProfile;
  const bool needs_frame = what.tasks || what.budget;
  return needs_frame || calls_kept_from_hook().empty() ? &kFrame : &kProfile;
}

const Instrumenter& find_instrumenter(const std::string& name, const InstrumentOptions& what) {
  if (name == "auto") return *choose(what);
  for (const Instrumenter* instrumenter : kInstrumenters) {
    if (name == instrumenter->name) return *instrumenter;
  }
  throw std::logic_error("no instrumenter is called " + name);
}

}  // namespace

InstrumentOptions instrument_options(const Settings& settings) {
  return {.c_functions = settings.flag(kSettings.c_functions),
          .tasks = settings.flag(kSettings.async_tasks),
          .lanes = settings.text(kSettings.task_layout) == "lanes",
          .budget = overhead_limit_of(settings).has_value()};
}

bool observes_calls(const Instrumenter& instrumenter) noexcept {
  return &instrumenter != &kDummy && &instrumenter != &kSampling;
}

const Instrumenter& instrumenter_of(const Settings& settings) {
  if (settings.flag(kSettings.sampling)) {
    if (kHasMonitoring) return kSampling;
    throw Error(settings.origin(kSettings.sampling) +
                " needs Python 3.12 or later; --overhead 5% is the cheapest way here [TL116]");
  }
  const InstrumentOptions what = instrument_options(settings);
  const std::string name = settings.text(kSettings.instrumenter);
  const Instrumenter& instrumenter = find_instrumenter(name, what);
  const std::string the_instrumenter =
      std::string("the instrumenter \"") + instrumenter.name + "\"";
  if (&instrumenter == &kMonitoring && !kHasMonitoring) {
    throw Error(settings.origin(kSettings.instrumenter) + ": " + the_instrumenter +
                " needs Python 3.12 or later; use --instrumenter frame or profile here [TL116]");
  }
  if (what.c_functions && !instrumenter.can.c_functions) {
    throw Error(settings.origin(kSettings.c_functions) + ": " + the_instrumenter +
                " cannot record C functions; use --instrumenter " +
                choose({.c_functions = true})->name + " with --c-functions [TL116]");
  }
  if (what.tasks && !instrumenter.can.tasks) {
    throw Error(settings.origin(kSettings.async_tasks) + ": " + the_instrumenter +
                " cannot tell tasks apart; use --instrumenter " + choose({.tasks = true})->name +
                " with --async-tasks" + (what.c_functions ? " and without --c-functions" : "") +
                " [TL116]");
  }
  if (what.budget && !instrumenter.can.budget) {
    throw Error(settings.origin(kSettings.overhead) + ": " + the_instrumenter +
                " cannot keep to a limit; use --instrumenter " + choose({})->name + " [TL116]");
  }
  return instrumenter;
}

void run_code_of_start(const Settings& settings) {
  if (&instrumenter_of(settings) == &kFrame || !kHasMonitoring) (void)calls_kept_from_hook();
}

std::string missing_calls(const Instrumenter& used) {
  return &used == &kFrame ? calls_kept_from_hook() : std::string();
}

void print_calls_kept_from_hook(const Settings& settings, const Instrumenter& used) {
  if (&used != &kFrame && (kHasMonitoring || settings.text(kSettings.instrumenter) != "auto"))
    return;
  const std::string& kept = calls_kept_from_hook();
  if (kept.empty() || instrument_options(settings).c_functions) return;
  const bool missing = !missing_calls(used).empty();
  print_line("this Python calls " + kept + " without asking the frame hook: " +
             (missing ? "calls are missing (--instrumenter profile records all) [TL016]"
                      : "--instrumenter profile is used, which takes longer [TL015]"));
}

}  // namespace timeloom::python
