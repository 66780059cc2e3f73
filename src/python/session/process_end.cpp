#include "python/session/process_end.hpp"

#include "python/interpreter/compat.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/session/session.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
using FastKeywords = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

FastKeywords g_exit = nullptr;
Fast g_execv = nullptr;
Fast g_signal = nullptr;
FastKeywords g_execve = nullptr;

PyObject* exit_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                       PyObject* names) {
  // Anything but one int is refused, and the program goes on.
  const Py_ssize_t all = count + (names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  if (all == 1 && PyLong_CheckExact(arguments[0])) {
    const auto status = static_cast<std::uint32_t>(PyLong_AsUnsignedLongMask(arguments[0]) & 0xff);
    SessionResult ignored;
    finish_session(ignored, {EndingKind::kExit, status});
    PyErr_Clear();
  }
  return g_exit(module, arguments, count, names);
}

// Returns only when the program could not be replaced.
template <typename Function, typename... Arguments>
PyObject* replace_process(Function original, Arguments... arguments) {
  record::note_ending({EndingKind::kExec, 0});
  PyObject* result = original(arguments...);
  record::note_ending({});
  return result;
}

PyObject* execv_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  return replace_process(g_execv, module, arguments, count);
}

PyObject* execve_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* names) {
  return replace_process(g_execve, module, arguments, count, names);
}

// A program that gives a signal its default action back, as servers do before they send it to
// themselves once more, still ends by it.
PyObject* set_handler(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  PyObject* before = g_signal(module, arguments, count);
  if (before == nullptr || count != 2) return before;
  const long signal = PyLong_AsLong(arguments[0]);
  if (signal == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
  record::watch_signal_again(static_cast<int>(signal));
  return before;
}

// Puts `ours` behind the function <module>.<name>: into its method table, so that
// every name and reference it has leads to us. A function that is not of the
// expected kind is left alone; its end of the process is then not noted.
template <typename Function>
void divert(PyObject* module, const char* name, int flags, Function ours, Function& original) {
  if (original != nullptr) return;
  const Ref function(PyObject_GetAttrString(module, name));
  if (!function || !PyCFunction_CheckExact(function.get())) return;
  PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(function.get())->m_ml;
  if (method->ml_flags != flags) return;
  with_world_stopped([&] {  // others may be calling it
    original = reinterpret_cast<Function>(reinterpret_cast<void*>(method->ml_meth));
    method->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(ours));
  });
}

}  // namespace

void watch_process_end() noexcept {
  const ErrorGuard guard;
  record::watch_signals();
  const Ref posix(PyImport_ImportModule("posix"));
  if (posix) {
    divert(posix.get(), "_exit", METH_FASTCALL | METH_KEYWORDS, exit_process, g_exit);
    divert(posix.get(), "execv", METH_FASTCALL, execv_process, g_execv);
    divert(posix.get(), "execve", METH_FASTCALL | METH_KEYWORDS, execve_process, g_execve);
  }
  const Ref signals(PyImport_ImportModule("_signal"));
  if (signals) divert(signals.get(), "signal", METH_FASTCALL, set_handler, g_signal);
  PyErr_Clear();
}

void unwatch_process_end() noexcept { record::unwatch_signals(); }

}  // namespace timeloom::python
