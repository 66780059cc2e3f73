// Everything that differs between the versions of CPython, in one place.
//
// Supported: 3.11 to 3.15. All functions
// need the GIL (or an attached thread state on free-threaded builds).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <structmember.h>

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1  // for the layout of the interpreter's frames
#define TIMELOOM_UNDEF_BUILD_CORE
#endif
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_genobject.h>
#include <internal/pycore_interpframe.h>
#include <internal/pycore_tstate.h>
#endif
#ifdef TIMELOOM_UNDEF_BUILD_CORE
#undef Py_BUILD_CORE
#endif

#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/event_word.hpp"

namespace timeloom::python {

#if PY_VERSION_HEX < 0x030b0000
#error "Timeloom needs CPython 3.11 or later"
#endif

#if PY_VERSION_HEX >= 0x030c0000
inline constexpr bool kHasMonitoring = true;
#else
inline constexpr bool kHasMonitoring = false;
#endif

#ifdef Py_GIL_DISABLED
inline constexpr bool kHasGil = false;
#else
inline constexpr bool kHasGil = true;
#endif

// Tracebacks show the lines of a program given by -c.
inline constexpr bool kShowsLinesOfCommand = PY_VERSION_HEX >= 0x030d0000;
// A fresh __main__ has a dict of annotations.
inline constexpr bool kMainHasAnnotations = PY_VERSION_HEX < 0x030e0000;

using InterpreterFrame = _PyInterpreterFrame;
using FrameEvaluator = _PyFrameEvalFunction;

// Borrowed; valid while the frame runs.
inline PyCodeObject* code_of(InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return _PyFrame_GetCode(frame);
#else
  return frame->f_code;
#endif
}

inline InterpreterFrame* interpreter_frame_of(PyFrameObject* frame) noexcept {
  return frame->f_frame;
}

inline PyObject* globals_of(InterpreterFrame* frame) noexcept { return frame->f_globals; }

// A positional argument of a frame that has just been called, or nullptr.
inline PyObject* local_of(InterpreterFrame* frame, int index) noexcept {
  if (index >= code_of(frame)->co_nlocalsplus) return nullptr;
#if PY_VERSION_HEX >= 0x030e0000
  return PyStackRef_AsPyObjectBorrow(frame->localsplus[index]);
#else
  return frame->localsplus[index];
#endif
}

// The frame itself, or the next one of Python code below it.
inline InterpreterFrame* python_frame(InterpreterFrame* frame) noexcept {
  // C code that runs Python has a frame of its own.
#if PY_VERSION_HEX >= 0x030e0000
  while (frame != nullptr && frame->owner >= FRAME_OWNED_BY_INTERPRETER) frame = frame->previous;
#elif PY_VERSION_HEX >= 0x030c0000
  while (frame != nullptr && frame->owner == FRAME_OWNED_BY_CSTACK) frame = frame->previous;
#endif
  return frame;
}
// The innermost frame of Python code; nullptr when there is none.
inline InterpreterFrame* current_frame(PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return python_frame(thread->current_frame);
#else
  return python_frame(thread->cframe->current_frame);
#endif
}
// The frame of Python code that has called this one; nullptr: none.
inline InterpreterFrame* outer_frame_of(InterpreterFrame* frame) noexcept {
  return python_frame(frame->previous);
}

// The generator or coroutine that the frame belongs to (borrowed), or nullptr.
inline PyObject* generator_of(InterpreterFrame* frame) noexcept {
  if (frame->owner != FRAME_OWNED_BY_GENERATOR) return nullptr;
#if PY_VERSION_HEX >= 0x030e0000
  return reinterpret_cast<PyObject*>(_PyGen_GetGeneratorFromFrame(frame));
#else
  return reinterpret_cast<PyObject*>(_PyFrame_GetGenerator(frame));
#endif
}

// Whether a generator's frame that is about to run has not run before.
inline bool runs_first(InterpreterFrame* frame) noexcept {
  return _PyInterpreterFrame_LASTI(frame) < code_of(frame)->_co_firsttraceable;
}

// Whether a generator has yielded, rather than returned or raised.
inline bool is_suspended(PyObject* generator) noexcept {
  const auto state = reinterpret_cast<PyGenObject*>(generator)->gi_frame_state;
#if PY_VERSION_HEX >= 0x030d0000
  return FRAME_STATE_SUSPENDED(state);
#else
  return state == FRAME_SUSPENDED;
#endif
}

// A value that an asynchronous generator yields to its consumer comes in a box; what it
// yields to the event loop does not. The type of the box has no public name.
inline bool is_value_of_async_generator(PyObject* value) noexcept {
  static constinit std::atomic<const PyTypeObject*> box = nullptr;
  if (Py_TYPE(value) == box) return true;
  if (box != nullptr || std::strcmp(Py_TYPE(value)->tp_name, "async_generator_wrapped_value") != 0)
    return false;
  box = Py_TYPE(value);
  return true;
}

inline bool is_generator(PyCodeObject* code) noexcept {
  return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

// Calling a generator function runs its frame up to the creation of the
// generator; that is not yet a run of the body. Afterwards the frame belongs to
// the generator.
inline bool creates_generator(InterpreterFrame* frame) noexcept {
  return frame->owner != FRAME_OWNED_BY_GENERATOR;
}

// Our globals belong to one interpreter. The last slots of the module; before
// 3.12 there is no way to say so.
inline constexpr PyModuleDef_Slot kOneInterpreter =
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED};
#else
    {0, nullptr};
#endif

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
  if (extra == nullptr || extra->size <= index) return 0;
  return reinterpret_cast<EventWord>(__atomic_load_n(&extra->values[index], __ATOMIC_RELAXED));
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
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the word is no address
  __atomic_store_n(&extra->values[index], reinterpret_cast<void*>(word), __ATOMIC_RELAXED);
  return true;
}

// 3.13 calls the __init__ of a class without asking the frame hook, once it has
// specialised the call.
inline constexpr bool kInitPassesHook = PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000;

// Code that the interpreter runs on behalf of a trace or profile function is not traced.
inline bool is_tracing(PyThreadState* thread) noexcept { return thread->tracing != 0; }

// How many calls a thread may still nest; the interpreter refuses a frame at 0.
inline int calls_left(PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030c0000
  return thread->py_recursion_remaining;
#else
  return thread->recursion_remaining;
#endif
}

// The interpreter's protection of the C stack: none but the count above (3.11),
// a count of C calls of its own (3.12, 3.13), the addresses of the stack.
enum class StackGuard { kNone, kCount, kAddress };
#if PY_VERSION_HEX >= 0x030e0000
inline constexpr StackGuard kStackGuard = StackGuard::kAddress;
inline constexpr int kCCallLimit = 0;
#elif PY_VERSION_HEX >= 0x030d0000
inline constexpr StackGuard kStackGuard = StackGuard::kCount;
inline constexpr int kCCallLimit = Py_C_RECURSION_LIMIT;
#elif PY_VERSION_HEX >= 0x030c0000
inline constexpr StackGuard kStackGuard = StackGuard::kCount;
inline constexpr int kCCallLimit = C_RECURSION_LIMIT;
#else
inline constexpr StackGuard kStackGuard = StackGuard::kNone;
inline constexpr int kCCallLimit = 0;
#endif
// Only with StackGuard::kCount.
inline int& c_calls_left(PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000
  return thread->c_recursion_remaining;
#else
  static int none = 0;
  return (void)thread, none;
#endif
}

// The part of the C stack that the interpreter takes for a thread's own (StackGuard::kAddress).
class StackProtection {
 public:
  // Makes it `size` bytes from `low` on, as long as this lives.
  StackProtection([[maybe_unused]] PyThreadState* thread, [[maybe_unused]] char* low,
                  [[maybe_unused]] std::size_t size) noexcept
#if PY_VERSION_HEX >= 0x030e0000
      : thread_(reinterpret_cast<_PyThreadStateImpl*>(thread)),
        before_{thread_->c_stack_top, thread_->c_stack_soft_limit, thread_->c_stack_hard_limit} {
    if (PyUnstable_ThreadState_SetStackProtection(thread, low, size) != 0) PyErr_Clear();
  }
  ~StackProtection() {
    thread_->c_stack_top = before_.top;
    thread_->c_stack_soft_limit = before_.soft_limit;
    thread_->c_stack_hard_limit = before_.hard_limit;
  }

 private:
  _PyThreadStateImpl* thread_;
  struct {
    std::uintptr_t top, soft_limit, hard_limit;
  } before_;

 public:
#else
  {
  }
#endif
  StackProtection(const StackProtection&) = delete;
  StackProtection& operator=(const StackProtection&) = delete;
};

// As long as it lives, code runs as if nothing had called it: it finds no frame
// below its own and the whole recursion limit for itself. To be made and
// destroyed in the same C function, outermost Python code running between.
class BareStack {
 public:
  BareStack() noexcept : thread_(PyThreadState_Get()), frame_(current_frame()) {
#if PY_VERSION_HEX >= 0x030f0000
    current_frame() = thread_->base_frame;  // the sentinel below all frames
#else
    current_frame() = nullptr;
#endif
    exchange_depths(1);
  }
  ~BareStack() {
    current_frame() = frame_;
    exchange_depths(-1);
  }
  BareStack(const BareStack&) = delete;
  BareStack& operator=(const BareStack&) = delete;

 private:
#if PY_VERSION_HEX >= 0x030d0000
  _PyInterpreterFrame*& current_frame() noexcept { return thread_->current_frame; }
#else
  _PyInterpreterFrame*& current_frame() noexcept { return thread_->cframe->current_frame; }
#endif
  // Gives back the depth used so far, or (-1) takes it away again.
  void exchange_depths(int direction) noexcept {
#if PY_VERSION_HEX >= 0x030c0000
    if (direction > 0) {
      depth_ = thread_->py_recursion_limit - thread_->py_recursion_remaining;
      c_depth_ = kCCallLimit - c_calls_left(thread_);
    }
    thread_->py_recursion_remaining += direction * depth_;
    c_calls_left(thread_) += direction * c_depth_;
#else
    if (direction > 0) depth_ = thread_->recursion_limit - thread_->recursion_remaining;
    thread_->recursion_remaining += direction * depth_;
#endif
  }
  PyThreadState* thread_;
  _PyInterpreterFrame* frame_;
  int depth_ = 0;
  [[maybe_unused]] int c_depth_ = 0;
};

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
