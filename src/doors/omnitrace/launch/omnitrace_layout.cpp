// The layout of Omnitrace: a run inside the output directory that its variables name; a weave puts
// the files of Omnitrace beside the run.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "doors/omnitrace/settings/omnitrace_names.hpp"
#include "doors/omnitrace/settings/omnitrace_settings.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/launch/plan/layout_choice.hpp"
#include "record/native/papi.hpp"
#include "run/run_directory.hpp"

namespace timeloom::python {

extern const Door kOmnitraceDoor;  // omnitrace_door.cpp

namespace {

namespace fs = std::filesystem;

constexpr char kRunName[] = "timeloom-run";

std::vector<std::string> command_of(const Program& program) {
  std::vector<std::string> words = program.arguments;
  const std::string name = program.kind == Program::Kind::kCommand ? "command"
                           : program.kind == Program::Kind::kStdin ? "stdin"
                                                                   : program.target;
  words.insert(words.begin(), name);
  return words;
}

OmnitraceSettings omnitrace_settings() {
  OmnitraceSettings omnitrace(environ);
  // A job script is for many machines, of which not all have the library.
  constexpr char kEvents[] = "OMNITRACE_PAPI_EVENTS";
  if (!omnitrace.text(kEvents).empty() && !record::has_papi()) {
    print_line(std::string(kEvents) +
               ": there is no libpapi here; its events are not counted [TL705]");
    omnitrace.set(kEvents, "", kEvents);
  }
  return omnitrace;
}

// Where nobody asks for another directory, the setting output names it.
void take_omnitrace_output(const Settings& settings, OmnitraceSettings& omnitrace) {
  constexpr char kPath[] = "OMNITRACE_OUTPUT_PATH", kTime[] = "OMNITRACE_TIME_OUTPUT";
  const std::string output = settings.text(kSettings.output);
  if (output.empty() || omnitrace.given(kPath)) return;
  omnitrace.set(kPath, output, settings.origin(kSettings.output));
  if (!omnitrace.given(kTime)) omnitrace.set(kTime, "OFF", kTime);
}

class OmnitraceRun : public PlannedRun {
 public:
  OmnitraceRun(Settings settings, OmnitraceSettings omnitrace, const Program& program)
      : settings_(std::move(settings)),
        omnitrace_(std::move(omnitrace)),
        facts_(facts_of_this_process(command_of(program), environ)),
        place_(place_of(omnitrace_, facts_)),
        unmet_(unmet_requests(omnitrace_)) {}

  void make() override;
  std::optional<RankRendezvous> rendezvous() const override;
  void join(const KnownDirectory& run) override {
    path_ = run.path();
    id_ = run.id();
  }
  void set_apart(const std::string&) override { apart_ = true; }  // the rank is in the name
  void forget() noexcept override { run::forget_directory(directory(), existed_); }
  void finish() override {}
  std::string path() const override { return path_.string(); }
  os::DirectoryId id() const override { return id_; }
  RunDescription description() const override { return describe(omnitrace_, place_); }

 private:
  void choose_path();

  Settings settings_;
  OmnitraceSettings omnitrace_;
  OmnitraceFacts facts_;
  OmnitracePlace place_;
  std::vector<std::string> unmet_;
  fs::path path_;
  os::DirectoryId id_;
  bool existed_ = false;
  bool apart_ = false;  // the ranks do not share it
};

// Beside the files that it is for. As these, a run of an earlier process is replaced; one that
// another process records just now is not.
void OmnitraceRun::choose_path() {
  const fs::path base = (run::current_directory() / place_.directory).lexically_normal();
  // Ranks share it, whichever of them makes it.
  const bool shared = facts_.rank && !apart_ && rendezvous();
  path_ = base / (std::string(kRunName) + (shared ? "" : place_.suffix));
  std::error_code error;
  existed_ = fs::exists(path_, error);
  if (existed_ && run::being_recorded(path_)) {
    path_ = base / (std::string(kRunName) + "-" + std::to_string(::getpid()));
    existed_ = fs::exists(path_, error);
  }
}

// Above the directory that is named after the time, which need not be the same for all ranks.
std::optional<RankRendezvous> OmnitraceRun::rendezvous() const {
  if (settings_.text(kSettings.results) == "none") return std::nullopt;
  OmnitraceSettings settings = omnitrace_;
  settings.set("OMNITRACE_TIME_OUTPUT", "OFF", "OMNITRACE_TIME_OUTPUT");
  OmnitraceFacts other = facts_;
  other.rank = other.rank.value_or(0) + 1;
  ++other.process;
  const std::string directory = place_of(settings, facts_).directory;
  if (place_of(settings, other).directory != directory) return std::nullopt;  // each rank its own
  return RankRendezvous{(run::current_directory() / directory).lexically_normal(), kRunName};
}

void OmnitraceRun::make() {
  for (const std::string& line : omnitrace_.notes()) print_line(line);
  for (const std::string& line : unmet_) print_line(line);
  if (settings_.text(kSettings.results) == "none") return;
  const std::string note = make_place(place_);
  if (!note.empty()) print_line(note);
  choose_path();
  const run::MadeRun made = run::make_directory(path_, true, settings_.as_variables());
  id_ = made.directory.id();
  if (!made.note.empty()) print_line(made.note);
}

std::shared_ptr<PlannedRun> plan_omnitrace_run(const Settings& settings, const Program& program,
                                               const Door&) {
  OmnitraceSettings omnitrace = omnitrace_settings();
  take_omnitrace_output(settings, omnitrace);
  return std::make_shared<OmnitraceRun>(settings, std::move(omnitrace), program);
}

}  // namespace

extern const LaunchLayout kOmnitraceLaunch;
const LaunchLayout kOmnitraceLaunch{
    .layout = run::kOmnitraceLayout,
    .door = kOmnitraceDoor,
    .apply_variables = [](Settings& settings) { apply(omnitrace_settings(), settings); },
    .plan = plan_omnitrace_run,
    .always_prints_losses = true};

}  // namespace timeloom::python
