#include "python/session/process_end.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string>

#include "core/run_properties.hpp"

#include "python/interpreter/compat.hpp"
#include "python/session/diverted_method.hpp"
#include "python/session/last_fork_handler.hpp"
#include "python/session/session.hpp"
#include "python/session/signal_waits.hpp"
#include "python/session/worker_places.hpp"
#include "record/measurement.hpp"
#include "sample/sampler.hpp"

namespace timeloom::python {
namespace {

Diverted<FastKeywords> g_exit;
Diverted<Fast> g_execv;
Diverted<FastKeywords> g_execve;
Diverted<Fast> g_signal;
Diverted<FastKeywords> g_unshare;
Diverted<FastKeywords> g_setns;
Diverted<Fast> g_waitpid;
Diverted<Fast> g_waitid;
Diverted<FastKeywords> g_wait3;
Diverted<FastKeywords> g_wait4;
Diverted<PyCFunction> g_wait;
// 3.11 takes its arguments as a tuple.
Diverted<Fast> g_fork_exec;
Diverted<PyCFunction> g_fork_exec_of_tuple;

// The thread that is about to fork in order to run another program; its child's thread has the same
// id.
std::atomic<pthread_t> g_forks_for_exec{};

// Ends the measurement of a process that is about to exit. All interpreters share the method table;
// outside of the main one no state of Timeloom may be touched.
void end_before_exit(std::uint32_t status) {
  const Ending ending{EndingKind::kExit, status};
  record::note_ending(ending);
  if (!in_main_interpreter()) return;
  if (record::is_restricted()) return leave_session();
  if (auto* const leave = g_before_exit.load()) leave();
  SessionResult ignored;
  finish_session(ignored, ending);
  PyErr_Clear();
}

PyObject* exit_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                       PyObject* names) {
  // Other arguments than one int raise an exception, and the program continues.
  const Py_ssize_t all = count + (names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  if (all == 1 && PyLong_CheckExact(arguments[0])) {
    end_before_exit(static_cast<std::uint32_t>(PyLong_AsUnsignedLongMask(arguments[0]) & 0xff));
  }
  return g_exit.original(module, arguments, count, names);
}

// os.execvp tries all directories of PATH in turn.
bool is_executable(PyObject* path) noexcept {
  if (PyLong_Check(path)) return true;  // a descriptor
  PyObject* bytes = nullptr;
  const bool is_path = PyUnicode_FSConverter(path, &bytes) != 0;
  const Ref owned(bytes);
  if (!is_path) PyErr_Clear();  // the function itself refuses it
  return is_path && ::access(PyBytes_AS_STRING(bytes), X_OK) == 0;
}

// Returns only when the program could not be replaced.
template <typename Function, typename... Arguments>
PyObject* replace_process(Function original, PyObject* module, PyObject* const* words,
                          Py_ssize_t count, Arguments... arguments) {
  if (count == 0 || !is_executable(words[0])) return original(module, words, count, arguments...);
  record::note_ending({EndingKind::kExec, 0});
  record::note_cpu_times_now();
  PyObject* result = original(module, words, count, arguments...);
  record::note_ending({});
  return result;
}

PyObject* execv_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  return replace_process(g_execv.original, module, arguments, count);
}

PyObject* execve_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* names) {
  return replace_process(g_execve.original, module, arguments, count, names);
}

// A child that has run its preexec_fn becomes another program, or ends, without a record of its
// own.
template <typename Function, typename... Arguments>
PyObject* fork_and_replace(Function original, Arguments... arguments) {
  g_forks_for_exec = pthread_self();
  PyObject* result = original(arguments...);
  g_forks_for_exec = pthread_t{};
  return result;
}

PyObject* fork_exec(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  return fork_and_replace(g_fork_exec.original, module, arguments, count);
}

PyObject* fork_exec_of_tuple(PyObject* module, PyObject* arguments) {
  return fork_and_replace(g_fork_exec_of_tuple.original, module, arguments);
}

// The number at an index of a Python result; 0: none.
long number_at(PyObject* numbers, Py_ssize_t place) noexcept {
  const long number = PyLong_AsLong(PyTuple_GET_ITEM(numbers, place));
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return number;
}

void note_end_of_child(long process, long status) noexcept {
  const bool ended = process > 0 && (WIFEXITED(status) || WIFSIGNALED(status));
  if (!ended || !in_main_interpreter()) return;
  try {
    record::note_property(kReaped + std::to_string(process), std::to_string(status));
  } catch (const std::bad_alloc&) {
    return;
  }
}

// The ending of a child without a record of its own is known from its parent. `result`: of a wait;
// process and status, and the resources used.
PyObject* note_reaped(PyObject* result) noexcept {
  if (result != nullptr && PyTuple_Check(result) && PyTuple_GET_SIZE(result) >= 2) {
    note_end_of_child(number_at(result, 0), number_at(result, 1));
  }
  return result;
}

// `result`: process, user, signal, status, code.
PyObject* note_seen(PyObject* result) noexcept {
  if (result == nullptr || !PyTuple_Check(result) || PyTuple_GET_SIZE(result) < 5) return result;
  const long process = number_at(result, 0);
  const long status = number_at(result, 3);
  const long code = number_at(result, 4);
  if (code == CLD_EXITED) note_end_of_child(process, (status & 0xff) << 8);
  if (code == CLD_KILLED || code == CLD_DUMPED) note_end_of_child(process, status);
  return result;
}

PyObject* wait_for_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  return note_reaped(g_waitpid.original(module, arguments, count));
}

PyObject* wait_for_any(PyObject* module, PyObject* none) {
  return note_reaped(g_wait.original(module, none));
}

PyObject* wait3_for_any(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* names) {
  return note_reaped(g_wait3.original(module, arguments, count, names));
}

PyObject* wait4_for_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                            PyObject* names) {
  return note_reaped(g_wait4.original(module, arguments, count, names));
}

PyObject* look_at_process(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  return note_seen(g_waitid.original(module, arguments, count));
}

// A program that resets a signal to its default action, as servers do before they send it to
// themselves again, still ends by it.
PyObject* set_handler(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  PyObject* before = g_signal.original(module, arguments, count);
  if (before == nullptr || count != 2) return before;
  const long signal = PyLong_AsLong(arguments[0]);
  if (signal == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
  record::watch_signal_again(static_cast<int>(signal));
  sample::note_signal_change(static_cast<int>(signal));
  return before;
}

// The kernel requires a process with a single thread to enter another user namespace. Other kinds
// do not require it; but after entering a pid namespace no thread can be created. `kinds`: position
// of the argument with the kind, if it is given by position; 0: any.
PyObject* call_alone(FastKeywords original, Py_ssize_t kinds, PyObject* module,
                     PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (names == nullptr && count > kinds && PyLong_CheckExact(arguments[kinds])) {
    const unsigned long which = PyLong_AsUnsignedLongMask(arguments[kinds]);
    if (which != 0 && (which & CLONE_NEWUSER) == 0)
      return original(module, arguments, count, names);
  }
  record::pause_helpers();
  PyObject* result = original(module, arguments, count, names);
  record::resume_helpers();
  return result;
}

PyObject* unshare(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return call_alone(g_unshare.original, 0, module, arguments, count, names);
}

PyObject* enter_namespace(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                          PyObject* names) {
  return call_alone(g_setns.original, 1, module, arguments, count, names);
}

// All module objects of it have the same methods, including ones that the program loads later. Kept
// forever; nullptr, without an exception: there is none.
PyObject* module_of_fork_exec() noexcept {
  static PyObject* module = nullptr;
  if (module != nullptr) return module;
  const Ref ours(PyImport_ImportModule("timeloom._fork_exec"));
  Ref found(ours ? PyObject_CallMethod(ours.get(), "module_of_fork_exec", nullptr) : nullptr);
  PyErr_Clear();
  if (found && found.get() != Py_None) module = found.release();
  return module;
}

}  // namespace

void prepare_watch_of_process_end() noexcept {
  const ErrorGuard guard;
  (void)module_of_fork_exec();
}

bool forks_for_exec() noexcept { return pthread_equal(g_forks_for_exec, pthread_self()) != 0; }

void note_fork_for_exec() noexcept {
  if (!forks_for_exec()) return;
  record::note_ending({EndingKind::kExec, 0});
}

void watch_process_end() noexcept {
  const ErrorGuard guard;
  record::watch_signals();
  const Ref posix(PyImport_ImportModule("posix"));
  if (posix) {
    divert(posix.get(), "_exit", METH_FASTCALL | METH_KEYWORDS, exit_process, g_exit);
    divert(posix.get(), "execv", METH_FASTCALL, execv_process, g_execv);
    divert(posix.get(), "execve", METH_FASTCALL | METH_KEYWORDS, execve_process, g_execve);
    divert(posix.get(), "unshare", METH_FASTCALL | METH_KEYWORDS, unshare, g_unshare);
    divert(posix.get(), "setns", METH_FASTCALL | METH_KEYWORDS, enter_namespace, g_setns);
    divert(posix.get(), "waitpid", METH_FASTCALL, wait_for_process, g_waitpid);
    divert(posix.get(), "wait", METH_NOARGS, wait_for_any, g_wait);
    divert(posix.get(), "waitid", METH_FASTCALL, look_at_process, g_waitid);
    divert(posix.get(), "wait3", METH_FASTCALL | METH_KEYWORDS, wait3_for_any, g_wait3);
    divert(posix.get(), "wait4", METH_FASTCALL | METH_KEYWORDS, wait4_for_process, g_wait4);
    watch_fork_handlers(posix.get());
  }
  if (PyObject* const subprocesses = module_of_fork_exec()) {
    divert(subprocesses, "fork_exec", METH_FASTCALL, fork_exec, g_fork_exec);
    divert(subprocesses, "fork_exec", METH_VARARGS, fork_exec_of_tuple, g_fork_exec_of_tuple);
  }
  const Ref signals(PyImport_ImportModule("_signal"));
  if (signals) {
    divert(signals.get(), "signal", METH_FASTCALL, set_handler, g_signal);
    watch_signal_waits(signals.get());
  }
  PyErr_Clear();
}

void unwatch_process_end() noexcept {
  record::unwatch_signals();
  with_world_stopped([] {
    put_back(g_exit, exit_process);
    put_back(g_execv, execv_process);
    put_back(g_execve, execve_process);
    put_back(g_unshare, unshare);
    put_back(g_setns, enter_namespace);
    put_back(g_signal, set_handler);
    unwatch_signal_waits();
    put_back(g_waitpid, wait_for_process);
    put_back(g_wait, wait_for_any);
    put_back(g_waitid, look_at_process);
    put_back(g_wait3, wait3_for_any);
    put_back(g_wait4, wait4_for_process);
    unwatch_fork_handlers();
    put_back(g_fork_exec, fork_exec);
    put_back(g_fork_exec_of_tuple, fork_exec_of_tuple);
  });
}

}  // namespace timeloom::python
