#include "python/launch/attaching.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/window.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/attached.hpp"
#include "python/launch/door.hpp"
#include "python/launch/end/end_of_run.hpp"
#include "python/launch/place/layout_choice.hpp"
#include "python/launch/read_settings.hpp"
#include "python/observe/regions/filter_choices.hpp"
#include "run/spool_for_other.hpp"
#include "settings/command_line.hpp"
#include "settings/inheritance.hpp"
#include "settings/window_settings.hpp"

namespace timeloom::python {
namespace {

struct Plan {
  Settings settings;
  FilterSource filter;
  std::shared_ptr<RunPlace> place = {};
  std::optional<unsigned> user = {};  // of the other process, unless it is this one
  std::optional<run::Directory> run = {};
};
Plan* g_plan = nullptr;  // lives as long as the process

// Options may stand on both sides of the process.
CommandLine read_words(const std::vector<std::string>& words) {
  CommandLine line = parse_command_line(words, InterpreterFlags::kTake);
  if (line.kind == ProgramKind::kNone) throw Error("no process given; write: timeloom attach PID");
  const CommandLine rest = parse_command_line(line.arguments, InterpreterFlags::kTake);
  if (line.kind != ProgramKind::kFile || rest.kind != ProgramKind::kNone)
    throw Error("one process is given by its number; write: timeloom attach PID");
  if (!line.interpreter_flags.empty() || !rest.interpreter_flags.empty())
    throw Error(
        "the other Python runs already: there is no flag for it; see timeloom attach --help");
  line.options.insert(line.options.end(), rest.options.begin(), rest.options.end());
  for (const auto& [setting, value] : line.options) {
    if (setting->name == "follow" && value != "none")
      throw Error("--follow: one process is recorded; attach to its children by their own numbers");
  }
  return line;
}

PyObject* plan_attach(PyObject*, PyObject* arguments) {
  PyObject *words = nullptr, *pyproject = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &words, &pyproject)) return nullptr;
  const CommandLine line = read_words(words_of(words));
  Settings settings = read_settings(
      pyproject, [&](Settings& weaker) { apply(line, weaker); }, Measured::kRunning);
  settings.set(kSettings.follow, "none", "follow");  // nobody would end what a child records
  const FilterSource filter = read_filter_file(settings);
  g_plan = new Plan{std::move(settings), filter};
  return object_of(line.target);
}

// The directory of the spools, which the other process writes to.
void make_spool(const std::string& process) {
  g_plan->run = run::open_for_other(g_plan->place->directory(), g_plan->user);
  Inheritance inheritance{g_plan->settings, {.filter = g_plan->filter}};
  inheritance.program.description.properties["timeloom::attached"] = process;
  run::make_spool_for_other(*g_plan->run, as_file(inheritance), g_plan->user);
}

// The other user may have put another directory in its place, which is left alone.
bool run_is_there() { return !g_plan->user || (g_plan->run && g_plan->run->is_at_its_path()); }

// The program of a command line of Python, as its run is named after.
std::string attached_program(std::vector<std::string> words) {
  if (!words.empty()) words.erase(words.begin());
  const std::vector<std::string> program = split_interpreter_start(words).program;
  if (program.empty() || program.front() == "-") return "python";
  if (program.front() == "-c") return "command";
  return program.front() == "-m" && program.size() > 1 ? program[1] : program.front();
}

PyObject* make_attached_run(PyObject*, PyObject* arguments) {
  PyObject *words = nullptr, *process = nullptr;
  long user = -1;
  if (!PyArg_ParseTuple(arguments, "OUl", &words, &process, &user)) return nullptr;
  if (g_plan == nullptr) throw Error("plan_attach() comes first");
  if (user >= 0) g_plan->user = static_cast<unsigned>(user);
  Program program;
  program.target = attached_program(words_of(words));
  g_plan->place = layout_of(g_plan->settings).plan(g_plan->settings, program, kTimeloomDoor);
  g_plan->place->make();
  try {
    make_spool(bytes_of(process));
  } catch (const Error&) {
    if (run_is_there()) g_plan->place->forget();
    throw;
  }
  return object_of(g_plan->place->path());
}

PyObject* forget_attached_run(PyObject*, PyObject*) {
  if (g_plan != nullptr && g_plan->place != nullptr && run_is_there()) g_plan->place->forget();
  Py_RETURN_NONE;
}

// The seconds are what a process that says nothing any more was recorded for.
PyObject* finish_attached_run(PyObject*, PyObject* arguments) {
  PyObject* answer = nullptr;
  double seconds = 0;
  if (!PyArg_ParseTuple(arguments, "Ud", &answer, &seconds)) return nullptr;
  if (g_plan == nullptr || g_plan->place == nullptr) throw Error("make_attached_run() comes first");
  if (!run_is_there())
    throw Error("the run " + g_plan->place->path() + " was moved, or replaced, by somebody else");
  SessionResult result;
  if (!read_answer(bytes_of(answer), result)) result = {.wall_seconds = seconds};
  result.run = g_plan->place->path();
  result.id = g_plan->place->id();
  result.window = describe(window_of(g_plan->settings));
  if (result.events == 0) result.profile = g_plan->settings.flag(kSettings.profile);
  report_run_of_other(g_plan->settings, result);
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef kAttachingMethods[] = {
    {"plan_attach", guarded<plan_attach>, METH_VARARGS, nullptr},
    {"make_attached_run", guarded<make_attached_run>, METH_VARARGS, nullptr},
    {"forget_attached_run", guarded<forget_attached_run>, METH_NOARGS, nullptr},
    {"finish_attached_run", guarded<finish_attached_run>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
