// The layout of runs of Timeloom.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "python/interpreter/print_line.hpp"
#include "python/launch/plan/layout_choice.hpp"
#include "run/run_directory.hpp"

namespace timeloom::python {
namespace {

std::string name_for_run(const Program& program) {
  switch (program.kind) {
    case Program::Kind::kCommand: return "command";
    case Program::Kind::kStdin: return "stdin";
    case Program::Kind::kModule:
    case Program::Kind::kFile:
    case Program::Kind::kDirectory: break;
  }
  return program.target;
}

class PlainRun : public PlannedRun {
 public:
  PlainRun(Settings settings, const Program& program)
      : settings_(std::move(settings)),
        program_(name_for_run(program)),
        path_(run::choose_directory(settings_.text(kSettings.output), program_)) {}

  // make() claims a path with the time anew: another job of the same second may have taken this
  // one.
  void check() override {
    if (!is_claimed()) run::check_directory(path_, settings_.flag(kSettings.force));
  }
  void make() override {
    const std::string& output = settings_.text(kSettings.output);
    std::error_code ignored;
    if (is_claimed()) path_ = run::claim_directory(output, program_);
    existed_ = !output.empty() && std::filesystem::exists(path_, ignored);
    const run::MadeRun made = run::make_directory(path_, settings_.flag(kSettings.force),
                                                  settings_.as_variables(), is_claimed());
    id_ = made.directory.id();
    if (!made.note.empty()) print_line(made.note);
  }
  void forget() noexcept override { run::forget_directory(directory(), existed_); }
  void finish() override {}
  std::string path() const override { return path_.string(); }
  os::DirectoryId id() const override { return id_; }

  std::optional<RankRendezvous> rendezvous() const override {
    const std::string& output = settings_.text(kSettings.output);
    if (output.empty()) return RankRendezvous{path_.parent_path(), output};
    return RankRendezvous{path_.parent_path(), path_.filename().string(),
                          !settings_.flag(kSettings.force)};
  }
  void join(const KnownDirectory& run) override {
    path_ = run.path();
    id_ = run.id();
  }
  void set_apart(const std::string& suffix) override {
    suffix_ = suffix;
    path_ += suffix;
  }

 private:
  bool is_claimed() const { return settings_.text(kSettings.output).empty() && suffix_.empty(); }

  Settings settings_;
  std::string program_;
  std::filesystem::path path_;
  os::DirectoryId id_;
  std::string suffix_;  // for a rank that has its own run
  bool existed_ = false;
};

std::shared_ptr<PlannedRun> plan_timeloom_run(const Settings& settings, const Program& program,
                                              const Door&) {
  return std::make_shared<PlainRun>(settings, program);
}

}  // namespace

extern const LaunchLayout kTimeloomLaunch;
const LaunchLayout kTimeloomLaunch{.layout = run::kTimeloomLayout,
                                   .door = kTimeloomDoor,
                                   .apply_variables = [](Settings&) {},
                                   .plan = plan_timeloom_run,
                                   .always_prints_losses = false};

}  // namespace timeloom::python
