#include "python/launch/attaching.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text/count_text.hpp"
#include "core/window.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/attached.hpp"
#include "python/launch/door.hpp"
#include "python/launch/end/end_of_run.hpp"
#include "python/launch/plan/layout_choice.hpp"
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
  std::shared_ptr<PlannedRun> planned = {};
  std::optional<unsigned> user = {};  // of the other process, unless it is this one
  std::optional<run::Directory> run = {};
};
Plan* g_plan = nullptr;  // lives as long as the process

CommandLine* g_attach_line = nullptr;  // as long

constexpr char kAttachTime[] = "a time such as 500ms, 10s or 2min";

// The options of this command alone.
const OptionTable& attach_options() {
  static const OptionTable table = {
      {.names = {"--for"}, .wanted = kAttachTime, .least = 1, .most = 1},
      {.names = {"--within"}, .wanted = kAttachTime, .least = 1, .most = 1},
      {.names = {"--dump"}},
      {.names = {"-h", "--help"}},
  };
  return table;
}

// The last of that name; null: none.
const OptionWords* find_option(const CommandLine& line, std::string_view name) {
  const auto found = std::find_if(line.own.rbegin(), line.own.rend(),
                                  [&](const OptionWords& one) { return one.name == name; });
  return found == line.own.rend() ? nullptr : &*found;
}

void refuse_dump(const CommandLine& line, bool one_process) {
  if (find_option(line, "--for") != nullptr)
    throw Error("--dump takes no time: leave out --for [TL072]");
  if (!one_process || !line.options.empty() || !line.interpreter_flags.empty())
    throw Error(
        "--dump takes one process and no other option; write: timeloom attach --dump PID [TL072]");
}

void refuse_words(const CommandLine& line, bool one_process) {
  if (line.kind == ProgramKind::kNone)
    throw Error("no process given; write: timeloom attach PID [TL072]");
  if (!one_process)
    throw Error("one process is given by its number; write: timeloom attach PID [TL072]");
  if (!line.interpreter_flags.empty())
    throw Error(
        "the other Python runs already: there is no flag for it; see timeloom attach --help "
        "[TL072]");
  for (const auto& [setting, value] : line.options) {
    if (setting->name == "follow" && value != "none")
      throw Error(
          "--follow: one process is recorded; attach to its children by their own numbers [TL072]");
  }
}

// Options may stand on both sides of the process.
CommandLine read_words(const std::vector<std::string>& words) {
  const OptionGrammar grammar{{&attach_options(), &setting_options(), &module_options(),
                               &interpreter_options(), &run_options()},
                              "timeloom attach --help"};
  CommandLine line = parse_command_line(words, grammar);
  CommandLine rest = parse_command_line(line.arguments, grammar);
  const auto append = [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(line.options, rest.options);
  append(line.own, rest.own);
  append(line.interpreter_flags, rest.interpreter_flags);
  line.help = line.help || rest.help;
  if (line.help) return line;
  const bool one_process = line.kind == ProgramKind::kFile && rest.kind == ProgramKind::kNone;
  const bool dump = find_option(line, "--dump") != nullptr;
  dump ? refuse_dump(line, one_process) : refuse_words(line, one_process);
  return line;
}

// The value of an option in seconds.
double option_seconds(const CommandLine& line, std::string_view name, double without) {
  const OptionWords* const words = find_option(line, name);
  if (words == nullptr) return without;
  const std::string& text = words->values.front();
  const double seconds = seconds_in(text).value_or(0);
  if (seconds > 0 && seconds < 1e9) return seconds;
  throw Error(words->name + ": '" + text +
              "' is not a time above 0, such as 500ms, 10s or 2min [TL101]");
}

PyObject* read_attach_words(PyObject*, PyObject* words) {
  delete std::exchange(g_attach_line, nullptr);
  g_attach_line = new CommandLine(read_words(words_of(words)));
  const CommandLine& line = *g_attach_line;
  return Py_BuildValue("(NddNN)", checked(object_of(line.target)), option_seconds(line, "--for", 0),
                       option_seconds(line, "--within", 5),
                       PyBool_FromLong(find_option(line, "--dump") != nullptr),
                       PyBool_FromLong(line.help));
}

PyObject* plan_attach(PyObject*, PyObject* pyproject) {
  if (g_attach_line == nullptr) throw Error("read_attach_words() comes first");
  Settings settings = read_settings(
      pyproject, [&](Settings& weaker) { apply(*g_attach_line, weaker); }, Measured::kRunning);
  settings.set(kSettings.follow, "none", "follow");  // nobody would end what a child records
  const FilterSource filter = read_filter_file(settings);
  g_plan = new Plan{std::move(settings), filter};
  Py_RETURN_NONE;
}

// The directory of the spools, which the other process writes to.
void make_spool(const std::string& process) {
  g_plan->run = run::open_for_other(g_plan->planned->directory(), g_plan->user);
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
  g_plan->planned = layout_of(g_plan->settings).plan(g_plan->settings, program, kTimeloomDoor);
  g_plan->planned->make();
  try {
    make_spool(bytes_of(process));
  } catch (const Error&) {
    if (run_is_there()) g_plan->planned->forget();
    throw;
  }
  return object_of(g_plan->planned->path());
}

PyObject* forget_attached_run(PyObject*, PyObject*) {
  if (g_plan != nullptr && g_plan->planned != nullptr && run_is_there()) g_plan->planned->forget();
  Py_RETURN_NONE;
}

// A process that no longer answers was recorded for that many seconds.
PyObject* finish_attached_run(PyObject*, PyObject* arguments) {
  PyObject* answer = nullptr;
  double seconds = 0;
  if (!PyArg_ParseTuple(arguments, "Ud", &answer, &seconds)) return nullptr;
  if (g_plan == nullptr || g_plan->planned == nullptr)
    throw Error("make_attached_run() comes first");
  if (!run_is_there())
    throw Error("the run " + g_plan->planned->path() +
                " was moved, or replaced, by somebody else [TL073]");
  SessionResult result;
  if (!read_answer(bytes_of(answer), result)) result = {.wall_seconds = seconds};
  result.run = g_plan->planned->path();
  result.id = g_plan->planned->id();
  result.window = describe(window_of(g_plan->settings));
  if (result.events == 0) result.profile = g_plan->settings.flag(kSettings.profile);
  report_run_of_other(g_plan->settings, result);
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef kAttachingMethods[] = {
    {"read_attach_words", guarded<read_attach_words>, METH_O, nullptr},
    {"plan_attach", guarded<plan_attach>, METH_O, nullptr},
    {"make_attached_run", guarded<make_attached_run>, METH_VARARGS, nullptr},
    {"forget_attached_run", guarded<forget_attached_run>, METH_NOARGS, nullptr},
    {"finish_attached_run", guarded<finish_attached_run>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
