// Everything that differs between the versions of CPython, here and in the compat_*.hpp beside it.
//
// Supported: 3.11 to 3.15. All functions need the GIL (or an attached thread state on free-threaded
// builds).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <cstdint>

#include "core/event_word.hpp"

namespace timeloom::python {

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x03100000
#error "this Timeloom knows CPython 3.11 to 3.15 only; a later one may know more"
#endif

#if PY_VERSION_HEX >= 0x030c0000
inline constexpr bool kHasMonitoring = true;
#else
inline constexpr bool kHasMonitoring = false;
#endif

// From 3.15 on a code object keeps which tools are called when it is unwound. The interpreter makes
// room for that in all that run when a tool asks for events, and reads it unchecked.
inline constexpr bool kUnwindsByCode = PY_VERSION_HEX >= 0x030f0000;

#ifdef Py_GIL_DISABLED
inline constexpr bool kHasGil = false;
#else
inline constexpr bool kHasGil = true;
#endif

// Tracebacks show the lines of a program given by -c.
inline constexpr bool kShowsLinesOfCommand = PY_VERSION_HEX >= 0x030d0000;
// A fresh __main__ has a dict of annotations.
inline constexpr bool kMainHasAnnotations = PY_VERSION_HEX < 0x030e0000;

// Our globals belong to one interpreter. The last slots of the module; before
// 3.12 a module cannot declare this.
inline constexpr PyModuleDef_Slot kOneInterpreter =
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED};
#else
    {0, nullptr};
#endif

// A module that each interpreter has for itself, also one with its own GIL.
inline const PyModuleDef_Slot kAnyInterpreter =
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED};
#else
    {0, nullptr};
#endif

// The thread that runs; nullptr: none does. Needs no GIL.
inline PyThreadState* running_thread() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

// Whether the calling thread runs code of the main interpreter, under its GIL. Needs neither;
// PyGILState_Check() returns true for every thread once there was a sub-interpreter.
inline bool in_main_interpreter() noexcept {
  PyThreadState* const thread = running_thread();
  return thread != nullptr && PyThreadState_GetInterpreter(thread) == PyInterpreterState_Main();
}
// The same of a thread that may not have the GIL: before 3.12 another one may run meanwhile.
inline bool has_main_gil() noexcept {
  PyThreadState* const own = PyGILState_GetThisThreadState();
  return own != nullptr && own == running_thread() && in_main_interpreter();
}

// The module does not need the GIL, see free_threading.hpp. Ends the slots of other builds.
inline const PyModuleDef_Slot kWithoutGil =
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED};
#else
    {0, nullptr};
#endif

// The word that a code object carries for us, one for each set of rules, at an index that the
// interpreter gives. It dies with the code object. On builds without a GIL any thread
// may load while one stores.

// A new index, or -1 when the interpreter has none left.
inline Py_ssize_t new_code_extra_index() noexcept {
#if PY_VERSION_HEX >= 0x030c0000
  return PyUnstable_Eval_RequestCodeExtraIndex(nullptr);
#else
  return _PyEval_RequestCodeExtraIndex(nullptr);
#endif
}

// The layout behind co_extra, the same from 3.6 to 3.15. Reading it here saves a call
// per event.
struct CodeExtra {
  Py_ssize_t size;
  void* values[1];
};

// 0 when nothing was stored yet.
inline EventWord load_code_extra(PyCodeObject* code, Py_ssize_t index) noexcept {
  const auto* extra = static_cast<CodeExtra*>(
      __atomic_load_n(&code->co_extra, kHasGil ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE));
  if (extra == nullptr || extra->size <= index) [[unlikely]]
    return 0;
  // With a GIL nobody stores meanwhile, and the compiler finds a shorter way to a plain value.
  return reinterpret_cast<EventWord>(
      kHasGil ? extra->values[index] : __atomic_load_n(&extra->values[index], __ATOMIC_RELAXED));
}

// False: there is no memory. Not by the interpreter's function: that makes
// room for all tools that there are, whose destructors are then called for nothing; and
// without a GIL it frees what others may be reading. Here the old room stays then.
inline bool store_code_extra(PyCodeObject* code, Py_ssize_t index, EventWord word) noexcept {
  auto* extra = static_cast<CodeExtra*>(code->co_extra);
  if (extra == nullptr || extra->size <= index) {
    const auto values = static_cast<std::size_t>(index) + 1;
    auto* room = static_cast<CodeExtra*>(PyMem_Calloc(1 + values, sizeof(void*)));
    if (room == nullptr) return false;
    room->size = index + 1;
    for (Py_ssize_t i = 0; extra != nullptr && i < extra->size; ++i) {
      room->values[i] = extra->values[i];
    }
    __atomic_store_n(&code->co_extra, static_cast<void*>(room), __ATOMIC_RELEASE);
    if (kHasGil) PyMem_Free(extra);
    extra = room;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the word is not an address
  __atomic_store_n(&extra->values[index], reinterpret_cast<void*>(word), __ATOMIC_RELAXED);
  return true;
}

// Keeps the exception of the program while we call into the interpreter.
class ErrorGuard {
 public:
  ErrorGuard() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorGuard() { PyErr_Restore(type_, value_, traceback_); }
  ErrorGuard(const ErrorGuard&) = delete;
  ErrorGuard& operator=(const ErrorGuard&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

// An owned reference.
class Ref {
 public:
  Ref() noexcept = default;
  explicit Ref(PyObject* object) noexcept : object_(object) {}
  explicit Ref(PyFrameObject* frame) noexcept : object_(reinterpret_cast<PyObject*>(frame)) {}
  explicit Ref(PyCodeObject* code) noexcept : object_(reinterpret_cast<PyObject*>(code)) {}
  Ref(Ref&& other) noexcept : object_(other.release()) {}
  Ref& operator=(Ref&& other) noexcept {
    PyObject* old = object_;
    object_ = other.release();
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  static Ref borrow(PyObject* object) noexcept {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }
  PyFrameObject* frame() const noexcept { return reinterpret_cast<PyFrameObject*>(object_); }
  PyCodeObject* code() const noexcept { return reinterpret_cast<PyCodeObject*>(object_); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

#if PY_VERSION_HEX < 0x030d0000
extern "C" void timeloom_break_into(PyInterpreterState* interpreter);  // compat_eval_breaker.c
#endif

// Whether the interpreter looks for threads when the handlers of a fork have run.
inline constexpr bool kWarnsOfForks = PY_VERSION_HEX >= 0x030c0000;

// Has the loop of the main interpreter look for calls that are pending. Any thread, without the
// GIL.
inline void break_into_main_interpreter() noexcept {
#if PY_VERSION_HEX < 0x030d0000
  timeloom_break_into(PyInterpreterState_Main());  // later versions do that themselves
#endif
}

// The object that a weak reference refers to; empty when it has died.
inline Ref referent_of(PyObject* reference) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* object = nullptr;
  (void)PyWeakref_GetRef(reference, &object);  // it is one
  return Ref(object);
#else
  PyObject* object = PyWeakref_GET_OBJECT(reference);
  return object == Py_None ? Ref() : Ref::borrow(object);
#endif
}

}  // namespace timeloom::python
