// The extension module timeloom._core: the interface of all C++ code to Python.
#include <cstdint>
#include <string>
#include <vector>

#include "core/run_properties.hpp"
#include "python/api/measurement_block.hpp"
#include "python/api/user_api.hpp"
#include "python/api/user_region.hpp"
#include "python/interpreter/compat.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/launch/attached.hpp"
#include "python/launch/attaching.hpp"
#include "python/launch/door.hpp"
#include "python/launch/end/end_of_run.hpp"
#include "python/launch/follow.hpp"
#include "python/launch/launcher.hpp"
#include "python/launch/measure.hpp"
#include "python/observe/engines/dask_clients.hpp"
#include "python/observe/engines/dask_tasks.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/session/session.hpp"
#include "python/session/session_window.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

PyObject* none_if(bool success) { return success ? Py_NewRef(Py_None) : nullptr; }

PyObject* finish_measurement_method(PyObject*, PyObject*) {
  SessionResult result;
  if (!finish_measurement(result)) return none_if(PyErr_Occurred() == nullptr);
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

PyObject* keep_off_threads(PyObject*, PyObject* ids) {
  const Ref fast(PySequence_Fast(ids, "the native ids of threads are a sequence"));
  if (!fast) return nullptr;
  std::vector<std::uint64_t> threads;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    threads.push_back(PyLong_AsUnsignedLongLong(PySequence_Fast_GET_ITEM(fast.get(), i)));
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  record::keep_off_threads(threads);
  Py_RETURN_NONE;
}

PyObject* note_clock_offset(PyObject*, PyObject* arguments) {
  long long offset = 0;
  unsigned long long error = 0;
  if (PyArg_ParseTuple(arguments, "LK", &offset, &error) == 0) return nullptr;
  record::note_clock_offset(offset);
  record::note_property(kClockError, std::to_string(error));
  Py_RETURN_NONE;
}

PyObject* before_fork(PyObject* module, PyObject*) {
  lock_control();
  pause_attached();
  prepare_fork(module);
  return Py_NewRef(Py_None);
}

PyObject* after_fork(PyObject*, PyObject*) {
  reset_control_lock();
  follow_fork();
  return Py_NewRef(Py_None);
}

PyObject* after_fork_in_parent(PyObject*, PyObject*) {
  resume_windows();
  resume_attached();
  resume_helpers_soon();
  unlock_control();
  return Py_NewRef(Py_None);
}

PyObject* after_fork_handlers(PyObject*, PyObject*) {
  end_fork_handlers();
  Py_RETURN_NONE;
}

PyObject* finish_now(PyObject*, PyObject*) {
  finish_run_now();
  Py_RETURN_NONE;
}
PyObject* finish_earlier(PyObject*, PyObject*) { return none_if(finish_run_earlier()); }

PyMethodDef kSessionMethods[] = {
    {"finish", guarded<finish_measurement_method>, METH_NOARGS,
     "End the measurement of this process; a dict of totals, or None when there was none."},
    {"running", running, METH_NOARGS, "Whether a measurement of this process is running."},
    {"pause", guarded<pause>, METH_NOARGS, "Switch the automatic instrumentation off."},
    {"resume", guarded<resume>, METH_NOARGS, "Switch the automatic instrumentation on."},
    {"instrumenting", instrumenting, METH_NOARGS, "Whether calls are being observed."},
    {"paused", paused, METH_NOARGS, "Whether pause() has switched it off."},
    {"enable_recording", guarded<enable_recording>, METH_NOARGS, "Switch all recording on."},
    {"disable_recording", guarded<disable_recording>, METH_NOARGS, "Switch all recording off."},
    {"recording", recording, METH_NOARGS, "Whether anything is being recorded."},
    {"keep_off_threads", guarded<keep_off_threads>, METH_O,
     "Threads, by their native ids, that are never recorded from now on."},
    {"note_clock_offset", guarded<note_clock_offset>, METH_VARARGS,
     "The nanoseconds that the clock of the program's host is ahead now, and the error of that."},
    {"finish_run_now", guarded<finish_now>, METH_NOARGS,
     "Finish and weave the run of this process; nothing is recorded afterwards."},
    {"finish_run_earlier", guarded<finish_earlier>, METH_NOARGS,
     "Finish it before the exit handlers that are registered now."},
    {"_before_fork", before_fork, METH_NOARGS, "Called before a fork."},
    {"_after_fork", after_fork, METH_NOARGS, "Called in the child of a fork."},
    {"_after_fork_handlers", after_fork_handlers, METH_NOARGS, "Called after all others."},
    {"_after_fork_in_parent", after_fork_in_parent, METH_NOARGS, "Called in its parent."},
    {nullptr, nullptr, 0, nullptr}};

// A forked child continues with its own spool before the program's code runs in it. From 3.12 on,
// Python warns of a fork while the process has other threads.
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

// The declaration of the module for 3.12 and later, see kOneInterpreter.
bool refuse_sub_interpreter() noexcept {
  if (in_main_interpreter()) return true;
  PyErr_SetString(PyExc_ImportError, "timeloom cannot be used in a sub-interpreter [TL602]");
  return false;
}

// doors: the names of the doors in this build.
int add_doors(PyObject* module) {
  const auto doors = all_doors();
  const Ref names(PyTuple_New(static_cast<Py_ssize_t>(doors.size())));
  if (!names) return -1;
  for (std::size_t i = 0; i < doors.size(); ++i) {
    const std::string_view name = doors[i]->name;
    PyObject* text = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
    if (text == nullptr) return -1;
    PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(i), text);
  }
  return PyModule_AddObjectRef(module, "doors", names.get());
}

int execute(PyObject* module) {
  if (!refuse_sub_interpreter()) return -1;
  if (add_error(module) != 0) return -1;
  if (PyModule_AddFunctions(module, kSessionMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kUserApiMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kArrowMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kLauncherMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kBlockMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kFollowMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kAttachingMethods) != 0) return -1;
  if (PyModule_AddFunctions(module, kAttachedMethods) != 0) return -1;
  if (add_region_types(module) != 0 || add_task_call_type(module) != 0) return -1;
  if (add_submission_type(module) != 0 || add_dask_functions(module) != 0) return -1;
  if (add_dask_clients(module) != 0) return -1;
  if (add_unrecorded_type(module) != 0) return -1;
  if (add_hidden_type(module) != 0) return -1;
  if (add_doors(module) != 0) return -1;
  for (const Door* door : all_doors()) {
    if (door->add_to_module != nullptr && door->add_to_module(module) != 0) return -1;
  }
  return register_fork_handler(module);
}

PyModuleDef_Slot kModuleSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)}, kOneInterpreter, kWithoutGil, {0, nullptr}};
PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "timeloom._core",
                       "The measurement core of Timeloom.",
                       0,
                       nullptr,
                       kModuleSlots,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace
}  // namespace timeloom::python

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&timeloom::python::kModule); }
