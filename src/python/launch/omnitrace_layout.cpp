// The layout of Omnitrace: a run inside an output directory, as the OMNITRACE_ variables say.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "core/run_properties.hpp"
#include "python/launch/layout.hpp"
#include "run/run_directory.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

std::string tag_of(const Program& program) {
  switch (program.kind) {
    case Program::Kind::kCommand: return "command";
    case Program::Kind::kStdin: return "stdin";
    case Program::Kind::kModule: return program.target;
    case Program::Kind::kFile:
    case Program::Kind::kDirectory: break;
  }
  const fs::path name = fs::path(program.target).filename();
  return name.extension() == ".py" ? name.stem().string() : name.string();
}

class OmnitraceRun : public RunPlace {
 public:
  OmnitraceRun(Settings settings, const Program& program)
      : settings_(std::move(settings)),
        path_(run::current_directory() / ("omnitrace-" + tag_of(program) + "-output") /
              ("timeloom-run-" + std::to_string(::getpid()))) {}

  void make() override {
    std::error_code ignored;
    existed_ = fs::exists(path_, ignored);
    run::make_directory(path_, settings_.flag("force"), settings_.as_variables());
  }
  void forget() noexcept override { run::forget_directory(path_, existed_); }
  void finish() override {}
  std::string path() const override { return path_.string(); }
  RunDescription description() const override { return {.properties = {{kLayout, "omnitrace"}}}; }

 private:
  Settings settings_;
  fs::path path_;
  bool existed_ = false;
};

std::shared_ptr<RunPlace> plan(const Settings& settings, const Program& program, const Door&) {
  return std::make_shared<OmnitraceRun>(settings, program);
}

}  // namespace

const LaunchLayout kOmnitraceLaunch{.layout = run::kOmnitraceLayout,
                                    .apply_variables = [](Settings&) {},
                                    .plan = plan,
                                    .losses_are_said = true};

}  // namespace timeloom::python
