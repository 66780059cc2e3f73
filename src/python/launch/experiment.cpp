#include "python/launch/experiment.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "python/launch/settings_binding.hpp"

namespace timeloom::python {
namespace {

// What Score-P says when it is asked to, and where.
void tell(std::FILE* stream, const std::string& text) {
  std::fprintf(stream, "[Score-P] %s\n", text.c_str());
  std::fflush(stream);
}

void check_base_name(const std::string& name) {
  if (!name.empty() && name.find('/') == std::string::npos) return;
  throw Error("SCOREP_PROFILING_BASE_NAME: '" + name +
              "' is not accepted; write the name of a file, without a directory");
}

// The door of Score-P has its own variable for this, and its rules for what has the
// name already; it uses `output` where that variable is not set.
InTheWay take_output(const Settings& settings, ScorepSettings& scorep) {
  constexpr char kName[] = "SCOREP_EXPERIMENT_DIRECTORY";
  const std::string output = settings.text("output");
  const bool door_of_scorep = door_name() == "scorep";
  if (output.empty()) return InTheWay::kAsScorepSays;
  if (!door_of_scorep || scorep.text(kName).empty()) scorep.set(kName, output);
  if (door_of_scorep) return InTheWay::kAsScorepSays;
  return settings.flag("force") ? InTheWay::kRenamed : InTheWay::kRefused;
}

}  // namespace

std::unique_ptr<Experiment> Experiment::plan(Settings& settings, const std::string& program) {
  if (settings.text("layout") != "scorep") return nullptr;
  ScorepSettings scorep(environ);
  apply(scorep, settings);
  check_base_name(scorep.text("SCOREP_PROFILING_BASE_NAME"));
  const InTheWay in_the_way = take_output(settings, scorep);
  std::unique_ptr<Experiment> experiment(new Experiment(std::move(scorep), in_the_way, program));
  const std::string filter = settings.text("filter-file");
  std::error_code ignored;
  if (!filter.empty()) experiment->filter_ = std::filesystem::absolute(filter, ignored).string();
  experiment->verbose_ = experiment->scorep_.flag("SCOREP_VERBOSE");
  experiment->wanted_ =
      settings.text("results") != "none" || experiment->scorep_.flag("SCOREP_FORCE_CFG_FILES");
  return experiment;
}

void Experiment::begin(const std::vector<std::string>& words) {
  if (!wanted_) {
    return say("neither a profile nor a trace is wanted: no experiment directory is made");
  }
  directory_.create(scorep_, filter_);
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
