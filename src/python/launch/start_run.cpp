#include "python/launch/start_run.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "python/interpreter/errors.hpp"
#include "python/launch/end_of_run.hpp"
#include "python/launch/settings_binding.hpp"
#include "python/observe/filter_choices.hpp"
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

}  // namespace

RunPlace::RunPlace(Settings& settings, const Program& program)
    : experiment_(Experiment::plan(settings, program.path)),
      ours_(experiment_ == nullptr),
      directory_(
          experiment_
              ? experiment_->path()
              : run::choose_directory(settings.text("output"), name_for_run(program)).string()) {
  if (ours_) run::check_directory(directory_, settings.flag("force"));
}

void RunPlace::make(const Settings& settings, const Program& program) {
  if (ours_) {
    std::error_code ignored;
    existed_ = std::filesystem::exists(directory_, ignored);
    return run::make_directory(directory_, settings.flag("force"), settings.as_variables());
  }
  std::vector<std::string> words = program.arguments;
  words.insert(words.begin(), program.target);
  experiment_->begin(words);
  directory_ = experiment_->path();
}

void RunPlace::forget() noexcept {
  if (ours_) run::forget_directory(directory_, existed_);
}

void start_measuring(PyObject* core, const Settings& settings, RunPlace& place,
                     const Program& program) {
  try {
    place.make(settings, program);
    const std::string directory = place.directory();
    Ref dict(dict_of(settings)), output(object_of(directory));
    if (dict) take_filter_file(dict.get(), settings);
    // Registered first: afterwards its imports would be recorded.
    const bool prepared = dict && output &&
                          PyDict_SetItemString(dict.get(), "output", output.get()) == 0 &&
                          finish_run_at_exit(core, settings, place.take_experiment());
    if (settings.text("results") == "none") return;
    if (prepared && Ref(PyObject_CallMethod(core, "start", "O", dict.get()))) return;
    say("nothing is measured: " + take_exception_text());
    place.forget();
  } catch (const std::exception& error) {
    say(std::string("nothing is measured: ") + error.what());
  }
}

}  // namespace timeloom::python
