// The extension module timeloom._core: what Python sees of the rest.
#include <algorithm>
#include <string>
#include <vector>

#include "core/filter.hpp"
#include "python/api/measurement_block.hpp"
#include "python/api/user_api.hpp"
#include "python/api/user_region.hpp"
#include "python/interpreter/compat.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/launch/end_of_run.hpp"
#include "python/launch/follow.hpp"
#include "python/launch/run_program.hpp"
#include "python/launch/settings_binding.hpp"
#include "python/observe/code_regions.hpp"
#include "python/observe/filter_choices.hpp"
#include "python/session/session.hpp"
#include "python/session/window.hpp"
#include "record/measurement.hpp"
#include "settings/scorep_settings.hpp"

namespace timeloom::python {
namespace {

PyObject* none_if(bool success) { return success ? Py_NewRef(Py_None) : nullptr; }

// An item of the settings; borrowed, nullptr when it is not there.
PyObject* item(PyObject* settings, const char* key) { return PyDict_GetItemString(settings, key); }

std::string text_item(PyObject* settings, const char* key, const char* otherwise) {
  PyObject* value = item(settings, key);
  return value != nullptr && PyUnicode_Check(value) ? bytes_of(value) : otherwise;
}

// A number of the settings; 0 where none is set.
std::uint64_t number_item(PyObject* settings, const char* key) {
  PyObject* value = item(settings, key);
  return value != nullptr && PyLong_Check(value) ? PyLong_AsUnsignedLongLong(value) : 0;
}

record::MetricTexts metric_texts(PyObject* settings) {
  return {text_item(settings, "metric_rusage", ""),
          text_item(settings, "metric_rusage_per_process", ""),
          text_item(settings, "metric_rusage_sep", ","),
          text_item(settings, "metric_papi", ""),
          text_item(settings, "metric_papi_per_process", ""),
          text_item(settings, "metric_papi_sep", ",")};
}

AtLimit at_limit_of(const std::string& policy) {
  if (policy == "ring") return AtLimit::kKeepNewest;
  return policy == "profile" ? AtLimit::kFold : AtLimit::kStop;
}

// start(settings): those of run_program.hpp; `output` is the run directory.
PyObject* start(PyObject*, PyObject* settings) {
  if (!PyDict_Check(settings)) {
    PyErr_SetString(PyExc_TypeError, "start() takes the settings, a dict");
    return nullptr;
  }
  SessionOptions options;
  options.run = text_item(settings, "output", "");
  options.instrumenter = text_item(settings, "instrumenter", "auto");
  if (PyObject* value = item(settings, "c_functions")) options.c_functions = value == Py_True;
  if (PyObject* value = item(settings, "paused")) options.paused = value == Py_True;
  if (PyObject* value = item(settings, "profile")) options.profile = value == Py_True;
  if (PyObject* value = item(settings, "async_tasks")) options.async_tasks = value == Py_True;
  if (PyObject* value = item(settings, "buffer_size")) {
    options.buffer_size = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  options.max_size = number_item(settings, "max_size");
  options.max_depth = number_item(settings, "max_depth");
  options.at_max_size = at_limit_of(text_item(settings, "at_max_size", "stop"));
  const std::uint64_t levels = number_item(settings, "profile_depth");
  options.profile_depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(levels, UINT32_MAX));
  options.window.from = parse_window_point(text_item(settings, "from", ""), "from");
  options.window.until = parse_window_point(text_item(settings, "until", ""), "until");
  options.window.after = number_item(settings, "after");
  options.program_start_ns = number_item(settings, "program_start");
  if (PyErr_Occurred() != nullptr) return nullptr;
  options.metrics = record::plan_metrics(metric_texts(settings));
  options.filter_file = text_item(settings, "filter_file", "");
  options.rules.filter = filter_of(settings);
  const std::string package = own_directory();
  options.rules.packages = package.substr(0, package.rfind('/') + 1);
  options.rules.scorep_names = text_item(settings, "region_names", "") == "scorep";
  options.results = text_item(settings, "results", "all");
  options.experiment = text_item(settings, "layout", "") == "scorep";
  if (options.results == "none")
    return raise_error("with results=none nothing is recorded; write all or trace");
  options.follow_forks = text_item(settings, "follow", "workers") != "none";
  options.parent = text_item(settings, "parent", "");
  const Turn turn;  // until the children know
  if (!start_session(options)) return nullptr;
  if (options.program_start_ns == 0) {  // for the processes that this one starts
    const Ref now(PyLong_FromUnsignedLongLong(record::monotonic_ns()));
    if (!now || PyDict_SetItemString(settings, "program_start", now.get()) != 0) PyErr_Clear();
  }
  if (!announce_to_children(settings)) PyErr_Clear();  // they are not measured, then
  return Py_NewRef(Py_None);
}

PyObject* finish(PyObject*, PyObject*) {
  SessionResult result;
  const Turn turn;
  withdraw_from_children();
  if (!finish_session(result)) return none_if(PyErr_Occurred() == nullptr);
  return totals_dict(result);
}

PyObject* running(PyObject*, PyObject*) { return PyBool_FromLong(session_running()); }
PyObject* pause(PyObject*, PyObject*) { return none_if(pause_instrumentation()); }
PyObject* resume(PyObject*, PyObject*) { return none_if(resume_instrumentation()); }
PyObject* instrumenting(PyObject*, PyObject*) { return PyBool_FromLong(instrumentation_on()); }
PyObject* paused(PyObject*, PyObject*) { return PyBool_FromLong(instrumentation_paused()); }
PyObject* enable_recording(PyObject*, PyObject*) { return none_if(set_recording(true)); }
PyObject* disable_recording(PyObject*, PyObject*) { return none_if(set_recording(false)); }
PyObject* recording(PyObject*, PyObject*) { return PyBool_FromLong(record::recording()); }

PyObject* before_fork(PyObject* module, PyObject*) {
  take_turn();
  prepare_fork(module);
  return Py_NewRef(Py_None);
}

PyObject* after_fork(PyObject*, PyObject*) {
  forget_turns();
  follow_fork();
  return Py_NewRef(Py_None);
}

PyObject* after_fork_in_parent(PyObject*, PyObject*) {
  resume_windows();
  give_turn();
  return Py_NewRef(Py_None);
}

PyObject* finish_now(PyObject*, PyObject*) {
  finish_run_now();
  Py_RETURN_NONE;
}
PyObject* finish_earlier(PyObject*, PyObject*) { return none_if(finish_run_earlier()); }

PyMethodDef kSessionMethods[] = {
    {"start", guarded<start>, METH_O, "Begin a measurement of this process."},
    {"finish", guarded<finish>, METH_NOARGS,
     "End it; a dict of totals, or None when there was none."},
    {"running", running, METH_NOARGS, "Whether a measurement of this process is running."},
    {"pause", guarded<pause>, METH_NOARGS, "Switch the automatic instrumentation off."},
    {"resume", guarded<resume>, METH_NOARGS, "Switch the automatic instrumentation on."},
    {"instrumenting", instrumenting, METH_NOARGS, "Whether calls are being observed."},
    {"paused", paused, METH_NOARGS, "Whether pause() has switched it off."},
    {"enable_recording", guarded<enable_recording>, METH_NOARGS, "Switch all recording on."},
    {"disable_recording", guarded<disable_recording>, METH_NOARGS, "Switch all recording off."},
    {"recording", recording, METH_NOARGS, "Whether anything is being recorded."},
    {"finish_run_now", guarded<finish_now>, METH_NOARGS,
     "Finish and weave the run of this process; nothing is recorded afterwards."},
    {"finish_run_earlier", guarded<finish_earlier>, METH_NOARGS,
     "Finish it before the exit handlers that are registered now."},
    {"_before_fork", before_fork, METH_NOARGS, "Called before a fork."},
    {"_after_fork", after_fork, METH_NOARGS, "Called in the child of a fork."},
    {"_after_fork_in_parent", after_fork_in_parent, METH_NOARGS, "Called in its parent."},
    {nullptr, nullptr, 0, nullptr}};

// A forked child goes on with a spool of its own, before its code runs on.
// From 3.12 on, Python warns of a fork while the process has other threads.
int register_fork_handler(PyObject* module) {
  const Ref os(PyImport_ImportModule("os"));
  const Ref register_function(os ? PyObject_GetAttrString(os.get(), "register_at_fork") : nullptr);
  const Ref before(PyObject_GetAttrString(module, "_before_fork"));
  const Ref child(PyObject_GetAttrString(module, "_after_fork"));
  const Ref parent(PyObject_GetAttrString(module, "_after_fork_in_parent"));
  const Ref positional(PyTuple_New(0));
  if (!before || !child || !parent) return -1;
  const Ref named(Py_BuildValue("{s:O,s:O,s:O}", "before", before.get(), "after_in_child",
                                child.get(), "after_in_parent", parent.get()));
  if (!register_function || !positional || !named) return -1;
  const Ref result(PyObject_Call(register_function.get(), positional.get(), named.get()));
  return result ? 0 : -1;
}

// What Python knows of itself since 3.12, see kOneInterpreter.
bool in_main_interpreter() noexcept {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return true;
  PyErr_SetString(PyExc_ImportError, "timeloom cannot be used in a sub-interpreter");
  return false;
}

int execute(PyObject* module) {
  if (!in_main_interpreter()) return -1;
  if (add_error(module) != 0) return -1;
  if (PyModule_AddFunctions(module, kSessionMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kUserApiMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kLauncherMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kBlockMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kFollowMethods) != 0) return -1;
  if (add_region_types(module) != 0) return -1;
  if (PyModule_AddStringConstant(module, "SCOREP_VERSION", kScorepVersion.data()) != 0) return -1;
  return register_fork_handler(module);
}

PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)}, kOneInterpreter, kWithoutGil, {0, nullptr}};
PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "timeloom._core",
                       "The measurement core of Timeloom.",
                       0,
                       nullptr,
                       kSlots,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace
}  // namespace timeloom::python

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&timeloom::python::kModule); }
