#include "python/api/measurement_block.hpp"

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/launch/settings_binding.hpp"
#include "python/launch/weave_process.hpp"
#include "python/observe/filter_choices.hpp"
#include "python/session/session.hpp"
#include "run/run_directory.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {
namespace {

struct Block {
  std::string package;  // directory of our Python package, for the program that weaves
  bool weave = true;
  bool keep_spool = false;
  std::filesystem::path directory = {};  // of the run
  bool existed = false;                  // it did before
  bool running = false;                  // begun by start_block()
};
Block g_block;  // used with a Turn

bool mark(PyObject* totals, bool woven, bool joined) {
  return PyDict_SetItemString(totals, "woven", woven ? Py_True : Py_False) == 0 &&
         PyDict_SetItemString(totals, "joined", joined ? Py_True : Py_False) == 0;
}

// What the measurement that is running has recorded so far.
PyObject* so_far() {
  SessionResult result;
  if (!session_so_far(result)) return Py_NewRef(Py_None);
  Ref totals(totals_dict(result));
  return totals && mark(totals.get(), false, true) ? totals.release() : nullptr;
}

// A program that measures itself is run under Timeloom: both record the same.
PyObject* join_run() {
  static bool said = false;
  SessionResult result;
  if (!std::exchange(said, true) && session_so_far(result)) {
    say("timeloom.Measurement is part of the run " + result.run +
        " here, and its settings do not count");
  }
  return so_far();
}

// Makes the run directory; throws Error.
std::string make_run(const Settings& settings, const std::string& program, Block& block) {
  block.directory = run::choose_directory(settings.text("output"), program);
  std::error_code ignored;
  block.existed = std::filesystem::exists(block.directory, ignored);
  run::make_directory(block.directory, settings.flag("force"), settings.as_variables());
  return block.directory.string();
}

PyObject* start_block(PyObject* core, PyObject* arguments) {
  PyObject* values = nullptr;
  PyObject* program = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!U", &PyDict_Type, &values, &program)) return nullptr;
  const Turn turn;
  if (session_followed()) {
    SessionResult ignored;  // what the process wants itself goes first
    finish_session(ignored);
  }
  if (session_running() && !g_block.running) return join_run();
  if (session_running()) {
    return raise_error("a measurement is already running in this process; finish it first");
  }
  // An experiment directory is one of a whole program.
  const Ref layout(PyUnicode_FromString("timeloom"));
  if (!layout || PyDict_SetItemString(values, "layout", layout.get()) != 0) return nullptr;
  Settings settings;
  apply_dict(values, settings, "");
  take_filter_file(values, settings);
  Block block{.package = own_directory(),
              .weave = settings.flag("weave"),
              .keep_spool = settings.flag("keep-spool"),
              .running = true};
  const Ref run(object_of(make_run(settings, bytes_of(program), block)));
  if (!run || PyDict_SetItemString(values, "output", run.get()) != 0) return nullptr;
  // Before it runs: another thread would take it for a run that it can join.
  g_block.running = true;
  PyObject* started = PyObject_CallMethod(core, "start", "O", values);
  if (started != nullptr) return g_block = std::move(block), started;
  run::forget_directory(block.directory, block.existed);
  const ErrorGuard guard;
  g_block.running = session_running();  // another thread was faster
  return nullptr;
}

// Others may begin the next measurement while this one is woven.
PyObject* finish(PyObject* core, Block& block) {
  const Turn turn;
  block = g_block;
  PyObject* totals = PyObject_CallMethod(core, "finish", nullptr);
  if (!session_running()) g_block.running = false;  // no earlier, as in start_block()
  return totals;
}

PyObject* finish_block(PyObject* core, PyObject*) {
  Block block;
  Ref totals(finish(core, block));
  if (!totals || totals.get() == Py_None) return totals.release();
  bool woven = false;
  PyObject* error = PyDict_GetItemString(totals.get(), "error");
  const bool removed = error != nullptr && PyLong_AsLong(error) == ENOENT;
  if (block.weave && !removed) {
    const std::string run = bytes_of(PyDict_GetItemString(totals.get(), "run"));
    woven = weave_in_child(run, block.package, block.keep_spool, true) == WeaveOutcome::kDone;
  }
  return mark(totals.get(), woven, false) ? totals.release() : nullptr;
}

PyObject* so_far_method(PyObject*, PyObject*) { return so_far(); }

}  // namespace

PyObject* totals_dict(const SessionResult& result) {
  PyObject* run = object_of(result.run);
  if (run == nullptr) return nullptr;
  return Py_BuildValue(
      "{s:N,s:s,s:O,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:O,s:K,s:i,s:d,s:d,s:s,s:K}", "run", run,
      "instrumenter", result.instrumenter.c_str(), "profile", result.profile ? Py_True : Py_False,
      "events", static_cast<unsigned long long>(result.events), "folded_events",
      static_cast<unsigned long long>(result.folded_events), "threads",
      static_cast<unsigned long long>(result.threads), "tasks",
      static_cast<unsigned long long>(result.tasks), "bytes",
      static_cast<unsigned long long>(result.bytes), "lost_events",
      static_cast<unsigned long long>(result.lost_events), "dropped_events",
      static_cast<unsigned long long>(result.dropped_events), "at_limit",
      result.at_limit ? Py_True : Py_False, "unmatched_leaves",
      static_cast<unsigned long long>(result.unmatched_leaves), "error", result.error,
      "wall_seconds", result.wall_seconds, "overhead_seconds", result.overhead_seconds, "window",
      result.window.c_str(), "windows", static_cast<unsigned long long>(result.windows));
}

PyMethodDef kBlockMethods[] = {{"start_block", guarded<start_block>, METH_VARARGS, nullptr},
                               {"finish_block", guarded<finish_block>, METH_NOARGS, nullptr},
                               {"so_far", guarded<so_far_method>, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
