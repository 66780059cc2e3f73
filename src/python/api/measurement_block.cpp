#include "python/api/measurement_block.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/end/weave_process.hpp"
#include "python/launch/measure.hpp"
#include "python/launch/preload.hpp"
#include "python/launch/python_values.hpp"
#include "python/launch/read_settings.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/regions/filter_choices.hpp"
#include "python/session/process_end.hpp"
#include "python/session/session.hpp"
#include "run/run_directory.hpp"
#include "settings/launched_rank.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {
namespace {

struct Block {
  std::string package;  // directory of Timeloom's Python package, for the weaving program
  bool weave = true;
  bool keep_spool = false;
  std::filesystem::path directory = {};  // of the run
  os::DirectoryId id = {};               // its identity
  bool existed = false;                  // it existed before
  bool running = false;                  // started by start_block()
};
Block g_block;  // guarded by the control lock

bool mark_block(PyObject* totals, bool woven, bool joined) {
  return PyDict_SetItemString(totals, "woven", woven ? Py_True : Py_False) == 0 &&
         PyDict_SetItemString(totals, "joined", joined ? Py_True : Py_False) == 0;
}

// The counts of the current measurement so far.
PyObject* so_far() {
  SessionResult result;
  if (!session_so_far(result)) return Py_NewRef(Py_None);
  Ref totals(totals_dict(result));
  return totals && mark_block(totals.get(), false, true) ? totals.release() : nullptr;
}

// True if this process is measured for another reason than start_block() or a measured parent.
bool is_part_of_run() {
  const ControlLock control;
  return session_running() && !g_block.running && !session_followed();
}

// For a program that measures itself and runs under Timeloom: both record the same.
PyObject* join_run() {
  static bool said = false;
  SessionResult result;
  if (!std::exchange(said, true) && session_so_far(result)) {
    print_line("timeloom.Measurement is part of the run " + result.run +
               " here, and its settings do not count [TL012]");
  }
  return so_far();
}

Settings settings_of_block(PyObject* values, PyObject* pyproject) {
  return read_settings(
      pyproject, [&](Settings& weaker) { apply_values(values, weaker, ""); }, Measured::kBlock);
}

// Creates the run directory; throws Error. Each rank of a job has its own, because a block that one
// rank measures need not be measured in the others.
void make_run(const Settings& settings, const std::string& program, Block& block) {
  block.directory = run::choose_directory(settings.text(kSettings.output), program);
  const auto rank = launched_rank_of_this_process(environ);
  if (rank && rank->size != 1) block.directory += ".rank-" + std::to_string(rank->rank);
  std::error_code ignored;
  block.existed = std::filesystem::exists(block.directory, ignored);
  const run::MadeRun made =
      run::make_directory(block.directory, settings.flag(kSettings.force), settings.as_variables());
  block.id = made.directory.id();
  if (!made.note.empty()) print_line(made.note);
}

// Ends a measurement that a parent process has started in this one: the process's own takes
// precedence.
void end_followed() {
  SessionResult ignored;
  if (session_followed()) finish_session(ignored);
}

PyObject* start_new_block(const Settings& settings, const std::string& program) {
  const FilterSource filter = read_filter_file(settings);
  Block block{.package = extension_directory(),
              .weave = settings.flag(kSettings.weave),
              .keep_spool = settings.flag(kSettings.keep_spool),
              .running = true};
  make_run(settings, program, block);
  // Set before the session runs: another thread would otherwise join it as an outer run.
  g_block.running = true;
  const SessionContext context{
      .run = block.directory.string(), .id = block.id, .program = {.filter = filter}};
  if (start_measurement(settings, context)) {
    g_block = std::move(block);
    Py_RETURN_NONE;
  }
  run::forget_directory({block.directory, block.id}, block.existed);
  const ErrorGuard guard;
  g_block.running = session_running();  // another thread was faster
  return nullptr;
}

PyObject* start_block(PyObject*, PyObject* arguments) {
  PyObject *values = nullptr, *pyproject = nullptr, *program = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!OU", &PyDict_Type, &values, &pyproject, &program)) {
    return nullptr;
  }
  if (is_part_of_run()) return join_run();
  const Settings settings = settings_of_block(values, pyproject);
  static bool told = false;  // the library of a program's wrappers is loaded at its start, or never
  if (!std::exchange(told, true)) print_missing_wrappers(settings);
  // Other threads run during Python code, and must not do so between the checks and the start.
  run_code_of_start(settings);
  prepare_watch_of_process_end();
  const ControlLock control;
  end_followed();
  if (is_part_of_run()) return join_run();
  if (session_running()) {
    return raise_error("a measurement is already running in this process; finish it first [TL051]");
  }
  return start_new_block(settings, bytes_of(program));
}

PyObject* output_of_block(PyObject*, PyObject* arguments) {
  PyObject *values = nullptr, *pyproject = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!O", &PyDict_Type, &values, &pyproject)) return nullptr;
  return object_of(settings_of_block(values, pyproject).text(kSettings.output));
}

// Other threads may start the next measurement while this one is woven.
bool finish_block(SessionResult& result, Block& block) {
  const ControlLock control;
  block = g_block;
  const bool finished = finish_measurement(result);
  if (!session_running()) g_block.running = false;  // not earlier, as in start_new_block()
  return finished;
}

PyObject* finish_block(PyObject*, PyObject*) {
  Block block;
  SessionResult result;
  if (!finish_block(result, block)) {
    return PyErr_Occurred() == nullptr ? Py_NewRef(Py_None) : nullptr;
  }
  const bool removed = result.error == ENOENT;
  const bool woven =
      block.weave && !removed &&
      weave_in_child(result.run, block.package, {block.keep_spool, true, false, result.id})
              .outcome == WeaveOutcome::kDone;
  Ref totals(totals_dict(result));
  return totals && mark_block(totals.get(), woven, false) ? totals.release() : nullptr;
}

PyObject* so_far_method(PyObject*, PyObject*) { return so_far(); }

}  // namespace

PyObject* totals_dict(const SessionResult& result) {
  PyObject* run = object_of(result.run);
  if (run == nullptr) return nullptr;
  return Py_BuildValue(
      "{s:N,s:s,s:O,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:O,s:K,s:i,s:d,s:d,s:d,s:s,s:K}", "run", run,
      "instrumenter", result.instrumenter.c_str(), "profile", result.profile ? Py_True : Py_False,
      "events", static_cast<unsigned long long>(result.events), "folded_events",
      static_cast<unsigned long long>(result.aggregated_events), "threads",
      static_cast<unsigned long long>(result.threads), "tasks",
      static_cast<unsigned long long>(result.tasks), "bytes",
      static_cast<unsigned long long>(result.bytes), "lost_events",
      static_cast<unsigned long long>(result.lost_events), "dropped_events",
      static_cast<unsigned long long>(result.dropped_events), "at_limit",
      result.at_limit ? Py_True : Py_False, "unmatched_leaves",
      static_cast<unsigned long long>(result.unmatched_leaves), "error", result.error,
      "wall_seconds", result.wall_seconds, "overhead_seconds", result.cost.total(),
      "overhead_inside_seconds", result.cost.total() - result.cost.start, "window",
      result.window.c_str(), "windows", static_cast<unsigned long long>(result.windows));
}

PyMethodDef kBlockMethods[] = {{"start_block", guarded<start_block>, METH_VARARGS, nullptr},
                               {"output_of_block", guarded<output_of_block>, METH_VARARGS, nullptr},
                               {"finish_block", guarded<finish_block>, METH_NOARGS, nullptr},
                               {"so_far", guarded<so_far_method>, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
