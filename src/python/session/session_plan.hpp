// The settings as a measurement of this process understands them. Needs the GIL.
#pragma once

#include <optional>

#include "core/window.hpp"
#include "python/observe/hooks/instrumenter.hpp"
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
  std::optional<double> overhead_limit;  // a share of CPU time; none: any
  RegionRules rules;
};

// Whether this Python and this machine can measure so: everything about settings that
// check() in settings/check.hpp cannot know. Throws Error.
void check_session(const Settings& settings);

// REQUIRES: settings that both have accepted, else it throws Error as they do.
SessionPlan plan_session(const Settings& settings, const FilterSource& filter);

// Takes the rules of the recording for all decisions, or (`awaiting`) those under which nothing is
// recorded until the region of a window is entered. False when the interpreter has no room.
bool set_rules(const SessionPlan& plan, bool awaiting);

// Makes room for both and takes those of the recording. Throws Error.
void take_rules(const SessionPlan& plan);

}  // namespace timeloom::python
