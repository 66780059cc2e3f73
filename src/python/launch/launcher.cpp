#include "python/launch/launcher.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/text/message_id.hpp"
#include "python/interpreter/c_stack.hpp"
#include "python/interpreter/compat_depth.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/console_script.hpp"
#include "python/launch/door.hpp"
#include "python/launch/end/end_of_run.hpp"
#include "python/launch/loaded_recorders.hpp"
#include "python/launch/measure.hpp"
#include "python/launch/mpi_notes.hpp"
#include "python/launch/plan/layout_choice.hpp"
#include "python/launch/preload.hpp"
#include "python/launch/python_values.hpp"
#include "python/launch/read_options.hpp"
#include "python/launch/read_settings.hpp"
#include "python/launch/run_program.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/regions/filter_choices.hpp"
#include "python/session/session_plan.hpp"
#include "record/measurement.hpp"
#include "run/experiment_directory.hpp"
#include "settings/command_line.hpp"
#include "settings/meant_command.hpp"
#include "settings/settings_text.hpp"

#ifndef TIMELOOM_VERSION
#define TIMELOOM_VERSION "0.1.0"
#endif

namespace timeloom::python {
namespace {

// ---- Words for the user

// A reader that leaves early has seen enough.
bool write_stdout(const std::string& text) {
  std::fflush(stdout);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written || errno == EPIPE;
}

// Sets SystemExit; returns null.
PyObject* exit_with(int status) noexcept {
  PyErr_SetObject(PyExc_SystemExit, Ref(PyLong_FromLong(status)).get());
  return nullptr;
}

PyObject* print_and_exit(const std::string& text) {
  const bool written = write_stdout(text);
  if (!written)
    print_line(std::string("cannot write to standard output: ") + std::strerror(errno) +
               " [TL423]");
  return exit_with(written ? 0 : 1);
}

// Does `action`; an Error of it is wrong usage, with the status that the door has for it.
template <typename Action>
PyObject* enter_by(const Door& door, Action action) {
  set_program_name(door.name);
  try {
    return action();
  } catch (const std::exception& error) {
    print_line(error.what());
    return exit_with(door.wrong_usage);
  }
}

// ---- The program

Program::Kind kind_of(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::kFile: return Program::Kind::kFile;
    case ProgramKind::kModule: return Program::Kind::kModule;
    case ProgramKind::kCommand: return Program::Kind::kCommand;
    case ProgramKind::kStdin: return Program::Kind::kStdin;
    case ProgramKind::kNative:  // refused by the parser
    case ProgramKind::kNone: break;
  }
  throw Error(
      "no program given; write: timeloom run script.py, or see timeloom run --help [TL426]");
}

RunDescription description_of(const PlannedRun& planned, const Program& program) {
  RunDescription description = planned.description();
  if (program.kind != Program::Kind::kFile) return description;
  const std::string package = package_of_script(program.target);
  if (!package.empty()) description.properties[kProgramPackage] = package;
  return description;
}

Program program_of(const CommandLine& line) {
  Program program;
  program.kind = kind_of(line.kind);
  program.target = line.target;
  if (program.kind == Program::Kind::kFile) program.target = script_of(line.target);
  program.arguments = line.arguments;
  return program;
}

Program program_of(PyObject* tuple) {
  const char* kind = nullptr;
  PyObject* target = nullptr;
  PyObject* arguments = nullptr;
  if (!PyArg_ParseTuple(tuple, "sUO", &kind, &target, &arguments)) throw PythonError();
  Program program;
  program.target = bytes_of(target);
  program.arguments = words_of(arguments);
  const std::string name = kind;
  program.kind = name == "module"    ? Program::Kind::kModule
                 : name == "command" ? Program::Kind::kCommand
                 : name == "stdin"   ? Program::Kind::kStdin
                                     : Program::Kind::kFile;
  return program;
}

// Runs what the user wants to be run before the program: it is not observed, and
// what it raises ends the program.
Outcome run_before(PyObject* function) {
  const bool paused = instrumentation_paused();
  if (!pause_instrumentation()) PyErr_Clear();
  const Ref result(PyObject_CallNoArgs(function));
  if (!result) {
    if (PyErr_ExceptionMatches(PyExc_SystemExit)) return Outcome::kExit;
    PyErr_Print();
    return Outcome::kFailed;
  }
  if (!paused && !resume_instrumentation()) PyErr_Clear();
  return Outcome::kNormal;
}

// ---- Its measurement

void print_nothing_measured(std::string_view reason) {
  print_line("nothing is measured: " + std::string(without_id(reason)) + " [TL019]");
}

// Null if the machine prevents measuring; the reason is printed.
std::shared_ptr<PlannedRun> plan_run(const Settings& settings, const Program& program,
                                     const Door& door) {
  try {
    return plan_and_check_run(settings, program, door);
  } catch (const EnvironmentError& error) {
    print_nothing_measured(error.what());
    return nullptr;
  }
}

// Starts to measure this process. An error is printed, and the program runs all the same, unless
// it is not to run without a directory of that name.
// `launched_cpu_ns`: see SessionContext.
void start_measuring(const Settings& settings, const Program& program, const FilterSource& filter,
                     const std::shared_ptr<PlannedRun>& planned,
                     std::optional<std::uint64_t> launched_cpu_ns) {
  if (planned == nullptr) return;
  try {
    planned->make();
    // Registered first: afterwards its imports would be recorded.
    const bool registered = finish_run_at_exit(settings, planned);
    if (settings.text(kSettings.results) == "none") return;
    const std::optional<RankInRun> rank = planned->rank();
    const SessionContext context{
        .run = planned->path(),
        .id = planned->id(),
        .spools = rank ? rank->spools : std::string(),
        .program = {.filter = filter, .description = description_of(*planned, program)},
        .rank = rank ? std::optional(rank->rank) : std::nullopt,
        .rank_of_mpi = rank && rank->of_mpi,
        .launched_cpu_ns = launched_cpu_ns};
    if (registered && start_measurement(settings, context)) return;
    print_nothing_measured(take_exception_text());
    planned->forget();
  } catch (const run::DirectoryTaken&) {
    throw;  // another process was faster; alone, this one would not have come so far
  } catch (const std::exception& error) {
    print_nothing_measured(error.what());
  }
}

// `before`: a callable or None.
PyObject* measure_program(const Door& door, const Settings& settings, Program program,
                          PyObject* brought, PyObject* before) {
  load_wrappers(settings);
  load_recorders(settings);
  print_notes_on_launcher(door, settings);
  std::FILE* file = nullptr;
  open_program(program, door.no_such_word, file);
  const std::shared_ptr<PlannedRun> planned = plan_run(settings, program, door);
  const FilterSource filter = read_filter_file(settings);
  if (!prepare_interpreter(program, brought, door) || !prepare_command(program)) return nullptr;
  Outcome outcome = Outcome::kNormal;
  make_room_for_tools();
  {
    const BareStack bare;
    start_measuring(settings, program, filter, planned, begun_cpu_ns());
    expect_mpi(mpi_option(door, settings));
    if (before != Py_None) outcome = run_before(before);
    if (outcome == Outcome::kNormal) outcome = run_program(program, file);
  }
  return pass_on(outcome);
}

// Throws Error for a word in the place of the program that is not a program of Python. `given`: the
// words of the command line.
void refuse_other_program(const std::vector<std::string>& given, const CommandLine& line) {
  if (line.kind != ProgramKind::kFile) return;
  DoorWords door{{"python", "-m", "timeloom"}, {}, "timeloom"};
  std::vector<std::string> flags;
  if (started_by_timeloom_run(flags)) {
    door.command = {"timeloom", "run"};
    door.options = flags;
  }
  const auto end = given.end() - static_cast<std::ptrdiff_t>(line.arguments.size()) - 1;
  door.options.insert(door.options.end(), given.begin(), end - (line.marked ? 1 : 0));
  const std::string text = meant_command(door, line.target, line.arguments);
  if (!text.empty()) throw Error(text + " [TL124]");
}

// ---- What Python calls

PyObject* run_command_line(PyObject*, PyObject* arguments) {
  PyObject *words = nullptr, *pyproject = nullptr, *brought = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &words, &pyproject, &brought)) return nullptr;
  return enter_by(kTimeloomDoor, [&]() -> PyObject* {
    const std::vector<std::string> given = words_of(words);
    const CommandLine line = parse_command_line(given, InterpreterFlags::kRefuse);
    if (line.help) return print_and_exit(run_help(line.help_detail));
    if (line.version) return print_and_exit("timeloom " TIMELOOM_VERSION "\n");
    refuse_other_program(given, line);
    const Settings settings = read_settings(
        pyproject, [&](Settings& weaker) { apply(line, weaker); }, Measured::kProgram);
    return measure_program(kTimeloomDoor, settings, program_of(line), brought, Py_None);
  });
}

// The values go over the settings of the door.
Settings settings_of_door(const Door& door, PyObject* values, PyObject* pyproject) {
  const auto given = [&](Settings& weaker) {
    for (const auto& [setting, value] : door.settings) {
      weaker.set(setting, value, std::string(setting_of(setting).name));
    }
    apply_values(values, weaker, "");
  };
  Settings settings = read_settings(pyproject, given, Measured::kProgram);
  for (const auto& [setting, value] : door.defaults) {
    if (!settings.given(setting)) settings.set(setting, value, kDoorDefault);
  }
  return settings;
}

PyObject* run_program_method(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  PyObject *values = nullptr, *pyproject = nullptr, *program = nullptr, *brought = nullptr;
  PyObject* before = Py_None;
  if (!PyArg_ParseTuple(arguments, "sO!OO!O|O", &name, &PyDict_Type, &values, &pyproject,
                        &PyTuple_Type, &program, &brought, &before)) {
    return nullptr;
  }
  const Door& door = find_door(name);
  return enter_by(door, [&] {
    const Settings settings = settings_of_door(door, values, pyproject);
    return measure_program(door, settings, program_of(program), brought, before);
  });
}

PyObject* begin_run(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  PyObject *values = nullptr, *pyproject = nullptr, *words = nullptr;
  if (!PyArg_ParseTuple(arguments, "sO!OO!", &name, &PyDict_Type, &values, &pyproject,
                        &PyTuple_Type, &words)) {
    return nullptr;
  }
  if (session_running()) Py_RETURN_FALSE;
  const Door& door = find_door(name);
  set_program_name(door.name);
  const Settings settings = settings_of_door(door, values, pyproject);
  print_missing_wrappers(settings);
  load_recorders(settings);
  Program program = program_of(words);
  program.path = absolute_path(program.target);
  const std::shared_ptr<PlannedRun> planned = plan_run(settings, program, door);
  start_measuring(settings, program, read_filter_file(settings), planned, std::nullopt);
  return PyBool_FromLong(session_running());
}

PyObject* change_run(PyObject*, PyObject* values) {
  if (!PyDict_Check(values)) return PyErr_BadArgument(), nullptr;
  if (!session_running()) Py_RETURN_NONE;
  Settings settings = session_inheritance().settings;
  apply_values(values, settings, "");
  check_session(settings);
  if (!change_measurement(settings)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* load_wrappers_method(PyObject*, PyObject* values) {
  if (!PyDict_Check(values)) return PyErr_BadArgument(), nullptr;
  Settings settings;
  apply_values(values, settings, "");
  if (!settings.given(kSettings.mpi))
    settings.set(kSettings.mpi, "off", "");  // whoever has started this process
  load_wrappers(settings);
  Py_RETURN_NONE;
}

PyObject* wrappers_method(PyObject*, PyObject*) {
  Ref all(PyDict_New());
  for (const Wrapper& wrapper : all_wrappers()) {
    const std::string name(setting_of(wrapper.setting).name);
    // Two wrappers have one setting: a measurement names the one that it lacks.
    if (all && PyDict_GetItemString(all.get(), name.c_str()) == Py_True) continue;
    PyObject* const loaded = is_loaded(wrapper) ? Py_True : Py_False;
    if (!all || PyDict_SetItemString(all.get(), name.c_str(), loaded) != 0) return nullptr;
  }
  return all.release();
}

PyObject* meant_command_method(PyObject*, PyObject* arguments) {
  PyObject *command = nullptr, *options = nullptr, *target = nullptr, *words = nullptr;
  const char* module = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOsUO", &command, &options, &module, &target, &words)) {
    return nullptr;
  }
  const DoorWords door{words_of(command), words_of(options), module};
  return object_of(meant_command(door, bytes_of(target), words_of(words)));
}

PyObject* settings_page_method(PyObject*, PyObject*) { return object_of(settings_page()); }

}  // namespace

PyMethodDef kLauncherMethods[] = {
    {"run_command_line", guarded<run_command_line>, METH_VARARGS, nullptr},
    {"run_program", guarded<run_program_method>, METH_VARARGS, nullptr},
    {"begin_run", guarded<begin_run>, METH_VARARGS, nullptr},
    {"change_run", guarded<change_run>, METH_O, nullptr},
    {"load_wrappers", guarded<load_wrappers_method>, METH_O, nullptr},
    {"wrappers", guarded<wrappers_method>, METH_NOARGS, nullptr},
    {"read_options", guarded<read_options>, METH_VARARGS, nullptr},
    {"meant_command", guarded<meant_command_method>, METH_VARARGS,
     "meant_command(command, options, module, target, arguments, /)\n--\n\n"
     "What is wrong with a program that is none of Python, in one line; empty: nothing."},
    {"settings_page", guarded<settings_page_method>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace timeloom::python
