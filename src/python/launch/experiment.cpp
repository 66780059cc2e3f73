#include "python/launch/experiment.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "python/launch/settings_binding.hpp"
#include "settings/scorep_settings.hpp"

namespace timeloom::python {
namespace {

// What Score-P says when it is asked to, and where.
void tell(std::FILE* stream, const std::string& text) {
  std::fprintf(stream, "[Score-P] %s\n", text.c_str());
  std::fflush(stream);
}

run::ProfileName profile_name(const std::string& base) {
  if (const auto name = run::ProfileName::of(base)) return *name;
  throw Error("SCOREP_PROFILING_BASE_NAME: '" + base +
              "' is not accepted; write the name of a file, without a directory" +
              (base.starts_with('.') ? " and a dot in front" : ""));
}

// The door of Score-P has its own variable for this, and its rules for what has the
// name already; it uses `output` where that variable is not set.
run::InTheWay take_output(const Settings& settings, ScorepSettings& scorep) {
  constexpr char kName[] = "SCOREP_EXPERIMENT_DIRECTORY";
  const std::string output = settings.text("output");
  const bool door_of_scorep = door_name() == "scorep";
  if (output.empty()) return run::InTheWay::kAsScorepSays;
  if (!door_of_scorep || scorep.text(kName).empty()) scorep.set(kName, output);
  if (door_of_scorep) return run::InTheWay::kAsScorepSays;
  return settings.flag("force") ? run::InTheWay::kRenamed : run::InTheWay::kRefused;
}

run::ExperimentOptions options_of(const ScorepSettings& scorep, run::InTheWay in_the_way) {
  run::ExperimentOptions options;
  options.directory = scorep.text("SCOREP_EXPERIMENT_DIRECTORY");
  options.in_the_way = in_the_way;
  options.overwrite = scorep.flag("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY");
  options.trace = scorep.flag("SCOREP_ENABLE_TRACING");
  options.profile = writes_profile(scorep);
  options.profile_name = profile_name(scorep.text("SCOREP_PROFILING_BASE_NAME"));
  options.settings = scorep.as_cfg();
  for (const std::string_view name : scorep.explicitly_set()) options.variables.emplace_back(name);
  return options;
}

}  // namespace

std::unique_ptr<Experiment> Experiment::plan(Settings& settings, const std::string& program) {
  if (settings.text("layout") != "scorep") return nullptr;
  ScorepSettings scorep(environ);
  apply(scorep, settings);
  const run::InTheWay in_the_way = take_output(settings, scorep);
  run::ExperimentOptions options = options_of(scorep, in_the_way);
  options.program = program;
  const std::string filter = settings.text("filter-file");
  std::error_code ignored;
  if (!filter.empty()) options.filter = std::filesystem::absolute(filter, ignored);
  std::unique_ptr<Experiment> experiment(new Experiment(std::move(options)));
  experiment->verbose_ = scorep.flag("SCOREP_VERBOSE");
  experiment->wanted_ = settings.text("results") != "none" || scorep.flag("SCOREP_FORCE_CFG_FILES");
  return experiment;
}

void Experiment::begin(const std::vector<std::string>& words) {
  if (!wanted_) {
    return say("neither a profile nor a trace is wanted: no experiment directory is made");
  }
  directory_.create();
  if (directory_.evaded()) {
    say("another process writes the experiment directory of that name; this one writes " + path());
  }
  if (!verbose_) return;
  tell(stderr, "running in verbose mode");
  std::string program;
  for (const std::string& word : words) program += (program.empty() ? "" : " ") + word;
  tell(stderr, "program: " + program);
  tell(stdout, "experiment directory: " + path());
  if (!directory_.previous().empty()) {
    tell(stdout, "previous experiment directory: " + directory_.previous().string());
  }
}

void Experiment::end() {
  if (!wanted_) return;
  directory_.finish();
  if (verbose_) tell(stdout, "final experiment directory: " + path());
}

}  // namespace timeloom::python
