// The layout of Score-P: experiment directories, as its variables say.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "python/interpreter/say.hpp"
#include "python/launch/layout.hpp"
#include "run/experiment_directory.hpp"
#include "settings/scorep_settings.hpp"

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

// Takes the setting output for the variable, where the door's rules say so.
InTheWay take_output(const Settings& settings, const Door& door, ScorepSettings& scorep) {
  constexpr char kName[] = "SCOREP_EXPERIMENT_DIRECTORY";
  const bool variables_first = door.directory == DirectoryRules::kVariables;
  const std::string output = settings.text("output");
  if (output.empty()) return InTheWay::kAsScorepSays;
  if (!variables_first || scorep.text(kName).empty()) scorep.set(kName, output);
  if (variables_first) return InTheWay::kAsScorepSays;
  return settings.flag("force") ? InTheWay::kRenamed : InTheWay::kRefused;
}

std::string filter_file_of(const Settings& settings) {
  const std::string filter = settings.text("filter-file");
  std::error_code ignored;
  return filter.empty() ? filter : std::filesystem::absolute(filter, ignored).string();
}

class Experiment : public RunPlace {
 public:
  Experiment(const Settings& settings, ScorepSettings scorep, InTheWay in_the_way,
             const Program& program)
      : scorep_(std::move(scorep)),
        directory_(scorep_, in_the_way, program.path),
        program_(program),
        filter_(filter_file_of(settings)),
        wanted_(settings.text("results") != "none" || scorep_.flag("SCOREP_FORCE_CFG_FILES")),
        verbose_(scorep_.flag("SCOREP_VERBOSE")) {}

  void make() override;
  void forget() noexcept override {}  // Score-P leaves it, too
  void finish() override;
  std::string path() const override { return directory_.path().string(); }
  RunDescription description() const override { return describe(scorep_); }

 private:
  ScorepSettings scorep_;
  ExperimentDirectory directory_;
  Program program_;
  std::string filter_;  // the filter file, or empty
  bool wanted_;         // it may be wanted with results only
  bool verbose_;
};

void Experiment::make() {
  if (!wanted_) {
    return say("neither a profile nor a trace is wanted: no experiment directory is made");
  }
  directory_.create(scorep_, filter_);
  if (directory_.evaded()) {
    say("another process writes the experiment directory of that name; this one writes " + path());
  }
  if (!verbose_) return;
  tell(stderr, "running in verbose mode");
  std::string words = program_.target;
  for (const std::string& word : program_.arguments) words += " " + word;
  tell(stderr, "program: " + words);
  tell(stdout, "experiment directory: " + path());
  if (!directory_.previous().empty()) {
    tell(stdout, "previous experiment directory: " + directory_.previous().string());
  }
}

void Experiment::finish() {
  if (!wanted_) return;
  directory_.finish();
  if (verbose_) tell(stdout, "final experiment directory: " + path());
}

std::shared_ptr<RunPlace> plan(const Settings& settings, const Program& program, const Door& door) {
  ScorepSettings scorep(environ);
  check_base_name(scorep.text("SCOREP_PROFILING_BASE_NAME"));
  const InTheWay in_the_way = take_output(settings, door, scorep);
  return std::make_shared<Experiment>(settings, std::move(scorep), in_the_way, program);
}

}  // namespace

const Layout kScorepLayout{
    .name = "scorep",
    .apply_variables = [](Settings& settings) { apply(ScorepSettings(environ), settings); },
    .plan = plan,
    .losses_are_said = true};

}  // namespace timeloom::python
