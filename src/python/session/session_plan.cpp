#include "python/session/session_plan.hpp"

#include <string>
#include <utility>

#include "core/error.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/filter_choices.hpp"
#include "python/session/session.hpp"
#include "record/native/code_filter.hpp"
#include "settings/overhead_setting.hpp"
#include "settings/window_settings.hpp"

namespace timeloom::python {
namespace {

record::MetricPlan metrics_of(const Settings& settings) {
  return record::plan_metrics(
      {settings.text(kSettings.metric_rusage), settings.text(kSettings.metric_rusage_per_process),
       settings.text(kSettings.metric_rusage_sep), settings.text(kSettings.metric_papi),
       settings.text(kSettings.metric_papi_per_process), settings.text(kSettings.metric_papi_sep),
       settings.origin(kSettings.metric_rusage),
       settings.origin(kSettings.metric_rusage_per_process)});
}

// Code that is linked with libtimeloom is recorded unless the user refuses it.
Filter compiled_code_of(const Settings& settings, const Filter& filter) {
  const bool refused = settings.given(kSettings.compiler) && !settings.flag(kSettings.compiler);
  return refused ? Filter(std::vector<FilterRule>{{false, "*"}}) : filter;
}

}  // namespace

std::string own_directory() {
  const Ref package(PyImport_ImportModule("timeloom"));
  const Ref file(package ? PyObject_GetAttrString(package.get(), "__file__") : nullptr);
  PyErr_Clear();
  if (!file || !PyUnicode_Check(file.get())) return {};
  const std::string path = utf8_text(file.get());
  return path.substr(0, path.rfind('/'));
}

void check_session(const Settings& settings) {
  (void)instrumenter_of(settings);
  (void)metrics_of(settings);
  (void)label_parts(settings);
  (void)SearchFilter(settings);
  (void)find_region_style(settings.text(kSettings.region_names));
}

SessionPlan plan_session(const Settings& settings, const FilterSource& filter) {
  const std::string package = own_directory();
  Filter functions = filter_of(settings, filter);
  Filter compiled_code = compiled_code_of(settings, functions);
  return {.instrumenter = &instrumenter_of(settings),
          .what = instrument_options(settings),
          .metrics = metrics_of(settings),
          .window = window_of(settings),
          .overhead_limit = overhead_limit_of(settings),
          .rules = {.filter = std::move(functions),
                    .packages = package.substr(0, package.rfind('/') + 1),
                    .style = &find_region_style(settings.text(kSettings.region_names)),
                    .label = label_parts(settings),
                    .search = SearchFilter(settings),
                    .said = settings.number(kSettings.say_filtered),
                    .engine_functions = settings.flag(kSettings.engine_functions),
                    .sampled = settings.flag(kSettings.sampling)},
          .compiled_code = std::move(compiled_code),
          .reads_lines = settings.flag(kSettings.compiler)};
}

SubInterpreterPlan sub_interpreters_of(const SessionPlan& plan) noexcept {
  const bool recordable = kHasMonitoring && observes_calls(*plan.instrumenter) &&
                          plan.rules.search.empty() && !plan.overhead_limit;
  if (!recordable) return {};
  return {plan.window.any() ? SubInterpreters::kChanging : SubInterpreters::kFixed,
          plan.what.c_functions};
}

// Watched functions need their own rules.
bool set_rules(const SessionPlan& plan, bool awaiting) {
  if (!plan.window.any()) return set_rules(plan.rules);
  FilterChoices choices = plan.rules.filter.choices();
  if (awaiting) choices.rules = {{false, "*"}};
  choices.rules.push_back({false, "\n" + describe(plan.window)});  // matches nothing
  RegionRules rules = plan.rules;
  rules.filter = Filter(std::move(choices));
  return set_rules(rules);
}

void take_rules(const SessionPlan& plan) {
  record::filter_code(plan.compiled_code, plan.reads_lines);
  if (set_rules(plan, true) && set_rules(plan, false)) return;
  throw Error(
      "the interpreter has no room left to mark code objects: a process may use about 250 "
      "different filters; use the same ones again [TL052]");
}

}  // namespace timeloom::python
