// The settings as used for a measurement of this process. All functions need the GIL.
#pragma once

#include <optional>

#include "core/window.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/metrics.hpp"
#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

struct SessionPlan {
  const Instrumenter* instrumenter = nullptr;
  InstrumentOptions what;
  record::MetricPlan metrics;
  Window window;
  std::optional<double> overhead_limit;  // a share of CPU time; empty: no limit
  RegionRules rules;
  Filter compiled_code;
  bool reads_lines = false;  // of compiled code, for rules for files
};

// Checks that this Python and this machine support the settings: everything that check() in
// settings/check.hpp cannot know. Throws Error.
void check_session(const Settings& settings);

// REQUIRES: settings that both checks accept; otherwise it throws Error as they do.
SessionPlan plan_session(const Settings& settings, const FilterSource& filter);

// Whether sub-interpreters are recorded. Not where functions are left out by objects of the main
// interpreter, or throttled by its calls, nor where threads of one interpreter record at the same
// time.
SubInterpreterPlan sub_interpreters_of(const SessionPlan& plan) noexcept;

// Uses the rules of the recording for all decisions, or (`awaiting`) the rules that record nothing
// until the region of a window is entered. False when the interpreter lacks room for them.
bool set_rules(const SessionPlan& plan, bool awaiting);

// Makes room for both kinds and uses the rules of the recording. Throws Error.
void take_rules(const SessionPlan& plan);

}  // namespace timeloom::python
