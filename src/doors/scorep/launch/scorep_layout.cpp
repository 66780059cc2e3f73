// The layout of Score-P: experiment directories, as its variables ask for them.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "doors/scorep/settings/scorep_settings.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/launch/plan/layout_choice.hpp"
#include "record/native/papi.hpp"
#include "record/native/wrapper_interface.hpp"
#include "run/experiment_directory.hpp"

namespace timeloom::python {

extern const Door kScorepDoor;  // scorep_door.cpp

namespace {

// The text that Score-P prints when it is asked to, and its place.
void tell(std::FILE* stream, const std::string& text) {
  std::fprintf(stream, "[Score-P] %s\n", text.c_str());
  std::fflush(stream);
}

run::ProfileName profile_name(const std::string& base) {
  if (const auto name = run::ProfileName::of(base)) return *name;
  throw Error("SCOREP_PROFILING_BASE_NAME: '" + base +
              "' is not accepted; write the name of a file, without a directory" +
              (base.starts_with('.') ? " and a dot in front" : "") + " [TL702]");
}

// Takes the setting output for the variable, if the door's rules ask for it.
run::InTheWay take_scorep_output(const Settings& settings, const Door& door,
                                 ScorepSettings& scorep) {
  constexpr char kName[] = "SCOREP_EXPERIMENT_DIRECTORY";
  const bool variables_first = door.directory == DirectoryRules::kVariables;
  const std::string output = settings.text(kSettings.output);
  if (output.empty()) return run::InTheWay::kAsScorepSays;
  if (!variables_first || scorep.text(kName).empty()) scorep.set(kName, output);
  if (variables_first) return run::InTheWay::kAsScorepSays;
  return settings.flag(kSettings.force) ? run::InTheWay::kRenamed : run::InTheWay::kRefused;
}

run::ExperimentOptions options_of(const Settings& settings, const ScorepSettings& scorep,
                                  run::InTheWay in_the_way, const Program& program) {
  run::ExperimentOptions options;
  options.directory = scorep.text("SCOREP_EXPERIMENT_DIRECTORY");
  options.in_the_way = in_the_way;
  options.overwrite = scorep.flag("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY");
  options.program = program.path;
  const std::string filter = settings.text(kSettings.filter_file);
  std::error_code ignored;
  if (!filter.empty()) options.filter = std::filesystem::absolute(filter, ignored);
  options.trace = scorep.flag("SCOREP_ENABLE_TRACING");
  options.profile = writes_profile(scorep);
  options.profile_name = profile_name(scorep.text("SCOREP_PROFILING_BASE_NAME"));
  options.settings = scorep.as_cfg();
  for (const std::string_view name : scorep.explicitly_set()) options.variables.emplace_back(name);
  return options;
}

class Experiment : public PlannedRun {
 public:
  Experiment(const Settings& settings, ScorepSettings scorep, run::InTheWay in_the_way,
             const Program& program)
      : scorep_(std::move(scorep)),
        options_(options_of(settings, scorep_, in_the_way, program)),
        program_(program),
        wanted_(settings.text(kSettings.results) != "none" ||
                scorep_.flag("SCOREP_FORCE_CFG_FILES")),
        verbose_(scorep_.flag("SCOREP_VERBOSE")) {}

  void check() override { directory_.emplace(options_); }
  void make() override;
  void forget() noexcept override {}  // Score-P leaves it, too
  void finish() override;
  std::string path() const override { return directory_ ? directory_->path().string() : ""; }
  os::DirectoryId id() const override { return directory_ ? directory_->id() : os::DirectoryId(); }
  RunDescription description() const override { return describe(scorep_); }

  std::optional<RankRendezvous> rendezvous() const override;
  void join(const KnownDirectory& run) override;
  void set_apart(const std::string& suffix) override { options_.suffix += suffix; }

 private:
  ScorepSettings scorep_;
  run::ExperimentOptions options_;
  std::optional<run::ExperimentDirectory> directory_;  // checked or joined
  Program program_;
  bool wanted_;  // it may be wanted with results only
  bool verbose_;
};

void Experiment::make() {
  if (!wanted_) {
    return print_line(
        "neither a profile nor a trace is wanted: no experiment directory is made [TL703]");
  }
  directory_->create();
  if (directory_->evaded()) {
    print_line("another process writes the experiment directory of that name; this one writes " +
               path() + " [TL704]");
  }
  for (const std::string& line : unmet_requests(scorep_, verbose_)) print_line(line);
  for (const std::string& line : costs_of(scorep_)) print_line(line);
  if (!verbose_) return;
  tell(stderr, "running in verbose mode");
  std::string words = program_.target;
  for (const std::string& word : program_.arguments) words += " " + word;
  tell(stderr, "program: " + words);
  tell(stdout, "experiment directory: " + path());
  if (!directory_->previous().empty()) {
    tell(stdout, "previous experiment directory: " + directory_->previous().string());
  }
}

std::optional<RankRendezvous> Experiment::rendezvous() const {
  if (!wanted_) return std::nullopt;
  const std::filesystem::path path = run::ExperimentDirectory::path_of(options_);
  return RankRendezvous{path.parent_path(),
                        options_.directory.empty() ? "" : path.filename().string(),
                        options_.in_the_way == run::InTheWay::kRefused};
}

void Experiment::join(const KnownDirectory& run) {
  directory_.emplace(run::ExperimentDirectory::joined(options_, run));
}

void Experiment::finish() {
  if (!wanted_ || !directory_) return;
  directory_->finish();
  // Score-P warns of it in each rank; scripts and its own tests look for that.
  if (record::has_mpi_on_threads()) {
    tell(stderr, "MPI_THREAD_(SERIALIZED|MULTIPLE) is in use: calls of all threads are recorded");
  }
  if (verbose_) tell(stdout, "final experiment directory: " + path());
}

std::shared_ptr<PlannedRun> plan_scorep_run(const Settings& settings, const Program& program,
                                            const Door& door) {
  ScorepSettings scorep(environ);
  const run::InTheWay in_the_way = take_scorep_output(settings, door, scorep);
  return std::make_shared<Experiment>(settings, std::move(scorep), in_the_way, program);
}

void apply_scorep_variables(Settings& settings) {
  ScorepSettings scorep(environ);
  // A job script is for many machines, of which not all have the library.
  for (const char* name : {"SCOREP_METRIC_PAPI", "SCOREP_METRIC_PAPI_PER_PROCESS"}) {
    if (scorep.text(name).empty() || record::has_papi()) continue;
    print_line(std::string(name) +
               ": there is no libpapi here; its events are not counted [TL705]");
    scorep.set(name, "");
  }
  apply(scorep, settings);
}

}  // namespace

extern const LaunchLayout kScorepLaunch;
const LaunchLayout kScorepLaunch{.layout = run::kScorepLayout,
                                 .door = kScorepDoor,
                                 .apply_variables = apply_scorep_variables,
                                 .plan = plan_scorep_run,
                                 .always_prints_losses = true};

}  // namespace timeloom::python
