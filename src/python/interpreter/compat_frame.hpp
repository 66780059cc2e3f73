// The interpreter's frames, whose layout differs between the versions of CPython.
//
// As compat.hpp: all functions need the GIL (or an attached thread state).
#pragma once

#include "python/interpreter/compat.hpp"

#include <frameobject.h>
#include <opcode.h>

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1  // for the layout of the interpreter's frames
#define TIMELOOM_UNDEF_BUILD_CORE
#endif
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_genobject.h>
#include <internal/pycore_instruments.h>
#include <internal/pycore_interpframe.h>
#include <internal/pycore_tstate.h>
#endif
#ifdef TIMELOOM_UNDEF_BUILD_CORE
#undef Py_BUILD_CORE
#endif

#include <atomic>
#include <cstring>

namespace timeloom::python {

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

// The function that a frame runs; borrowed.
inline PyFunctionObject* function_of(InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030e0000
  PyObject* const function = PyStackRef_AsPyObjectBorrow(frame->f_funcobj);
#elif PY_VERSION_HEX >= 0x030c0000
  PyObject* const function = frame->f_funcobj;
#else
  auto* const function = reinterpret_cast<PyObject*>(frame->f_func);
#endif
  const bool known = function != nullptr && PyFunction_Check(function);
  return known ? reinterpret_cast<PyFunctionObject*>(function) : nullptr;
}

// A positional argument of a frame that has just been called, or nullptr.
inline PyObject* local_of(InterpreterFrame* frame, int index) noexcept {
  if (index >= code_of(frame)->co_nlocalsplus) return nullptr;
#if PY_VERSION_HEX >= 0x030e0000
  return PyStackRef_AsPyObjectBorrow(frame->localsplus[index]);
#else
  return frame->localsplus[index];
#endif
}

// The same of an argument, which may have moved into a cell already.
inline PyObject* argument_of(InterpreterFrame* frame, int index) noexcept {
  constexpr char kCell = 0x40;  // CO_FAST_CELL
  PyObject* value = local_of(frame, index);
  if (value == nullptr || !PyCell_Check(value)) return value;
  const char kind = PyBytes_AS_STRING(code_of(frame)->co_localspluskinds)[index];
  return (kind & kCell) != 0 ? PyCell_GET(value) : value;
}

// From 3.15 on a hook may ask that calls which are specialised pass over it, for itself and all
// others.
inline bool calls_pass_over_hook() noexcept {
#if PY_VERSION_HEX >= 0x030f0000
  return _PyInterpreterState_IsSpecializationEnabled(PyInterpreterState_Get()) != 0;
#else
  return false;
#endif
}
inline void let_calls_pass_over_hook([[maybe_unused]] bool pass) noexcept {
#if PY_VERSION_HEX >= 0x030f0000
  _PyInterpreterState_SetEvalFrameAllowSpecialization(PyInterpreterState_Get(), pass ? 1 : 0);
#endif
}

// Whether the frame runs no code of a program: C code that runs Python has a frame of its own, and
// a specialised call of a class has one that checks what __init__ returns. The first instruction
// that may be traced lies behind the end of its code.
inline bool is_of_interpreter(InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030e0000
  if (frame->owner >= FRAME_OWNED_BY_INTERPRETER) return true;
#elif PY_VERSION_HEX >= 0x030c0000
  if (frame->owner == FRAME_OWNED_BY_CSTACK) return true;
#endif
  const PyCodeObject* code = code_of(frame);
  return code->_co_firsttraceable >= Py_SIZE(code);
}
// The frame itself, or the next one of Python code below it.
inline InterpreterFrame* python_frame(InterpreterFrame* frame) noexcept {
  while (frame != nullptr && is_of_interpreter(frame)) frame = frame->previous;
  return frame;
}
// The innermost frame, of any kind.
inline InterpreterFrame* innermost_frame(PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return thread->current_frame;
#else
  return thread->cframe->current_frame;
#endif
}
// The innermost frame of Python code; nullptr when there is none.
inline InterpreterFrame* current_frame(PyThreadState* thread) noexcept {
  return python_frame(innermost_frame(thread));
}
// The frame of Python code that has called this one; nullptr: none.
inline InterpreterFrame* outer_frame_of(InterpreterFrame* frame) noexcept {
  return python_frame(frame->previous);
}

// Whether the code object of a frame is one, for a handler of a signal: the thread may have been
// interrupted while it made the frame.
inline bool has_code(InterpreterFrame* frame) noexcept {
  auto* const code = reinterpret_cast<PyObject*>(code_of(frame));
  return code != nullptr && Py_TYPE(code) == &PyCode_Type;
}
// Whether the frame is one of the interpreter's own by its owner alone: such a frame may have no
// code object.
inline bool is_entry_frame([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030e0000
  return frame->owner >= FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030c0000
  return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
  return false;
#endif
}

// Whether C code has called the frame, as it does where a hook is asked: only then a hook may have
// seen the call. Not known from 3.12 on, where it is true.
inline bool is_called_by_c([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030c0000
  return true;
#else
  return frame->is_entry;
#endif
}

// Before 3.13 an evaluation by C code becomes the current one of its thread a little before it sets
// its innermost frame, whose place has any value until then. That frame, and those below it, are
// the thread's if the outermost frame of this evaluation lies on the innermost one of the
// evaluation before, which is there; nullptr: later versions.
inline constexpr bool kSetsFrameLate = PY_VERSION_HEX < 0x030d0000;
inline InterpreterFrame* const* frame_outside_evaluation(
    [[maybe_unused]] PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return nullptr;
#else
  auto* const before = thread->cframe->previous;
  return before == nullptr ? nullptr : &before->current_frame;
#endif
}
inline bool is_outermost_of_evaluation(InterpreterFrame* frame) noexcept {
  return is_entry_frame(frame) || (!kHasMonitoring && is_called_by_c(frame));
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

// Both of a generator or coroutine that has not ended; borrowed.
inline InterpreterFrame* frame_of_generator(PyObject* generator) noexcept {
  void* frame = &reinterpret_cast<PyGenObject*>(generator)->gi_iframe;
  return static_cast<InterpreterFrame*>(frame);
}
inline PyCodeObject* code_of_generator(PyObject* generator) noexcept {
  return code_of(frame_of_generator(generator));
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

// Whether it waits for another one that it delegates to (3.13 and later).
inline bool is_delegating(PyObject* generator) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  const auto state = reinterpret_cast<PyGenObject*>(generator)->gi_frame_state;
  return FRAME_STATE_SUSPENDED(state) && state != FRAME_SUSPENDED;
#else
  return (void)generator, false;
#endif
}

// From 3.13 on a generator that waits in no try block is closed without running its frame: by early
// patch releases always, by later ones unless a tool of sys.monitoring is called for
// PY_UNWIND. 3.15 asks the code object for that, which does not know of tools that have come while
// the generator waited.
inline constexpr bool kClosesUnlessObserved = PY_VERSION_HEX >= 0x030d0000;
inline bool closes_unobserved() noexcept {
  const auto release = Py_Version >> 8;
  const bool early = (release >= 0x030d00 && release < 0x030d0a) || release == 0x030e00;
  return early || release >= 0x030f00;
}
inline bool knows_tool_for_unwinding([[maybe_unused]] PyCodeObject* code) noexcept {
#if PY_VERSION_HEX >= 0x030f0000
  const _PyCoMonitoringData* known = code->_co_monitoring;
  return known == nullptr || known->active_monitors.tools[PY_MONITORING_EVENT_PY_UNWIND] != 0;
#else
  return false;
#endif
}
// Whether such an interpreter is about to close this generator so, while a tool observes PY_UNWIND.
inline bool is_closed_unobserved([[maybe_unused]] PyObject* generator) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  if (reinterpret_cast<PyGenObject*>(generator)->gi_frame_state != FRAME_SUSPENDED) return false;
  const _Py_CODEUNIT place = *frame_of_generator(generator)->instr_ptr;
  constexpr int kInNoTry = kUnwindsByCode ? 8 : 4;  // in the argument of RESUME
  const int operation = place.op.code;
#ifdef RESUME_CHECK_JIT
  const bool resumes_compiled = operation == RESUME_CHECK_JIT;
#else
  constexpr bool resumes_compiled = false;
#endif
  const bool resumes = operation == RESUME || operation == RESUME_CHECK ||
                       operation == INSTRUMENTED_RESUME || resumes_compiled;
  return resumes && (place.op.arg & kInNoTry) != 0 &&
         !knows_tool_for_unwinding(code_of_generator(generator));
#else
  return false;
#endif
}

// Whether tools of sys.monitoring are still to be told that this frame begins or resumes, in code
// that some tool observes: from 3.13 on that comes after the place where threads take turns and
// signals are handled.
inline bool begin_is_reported_later([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return frame->instr_ptr->op.code == INSTRUMENTED_RESUME;
#else
  return false;
#endif
}

// Whether this instruction stands at this offset in bytes; as compiled, whatever observes it.
inline bool has_instruction(PyCodeObject* code, Py_ssize_t offset, int instruction) noexcept {
  const Ref instructions(PyCode_GetCode(code));
  if (!instructions) PyErr_Clear();
  return instructions && offset >= 0 && offset < PyBytes_GET_SIZE(instructions.get()) &&
         PyBytes_AS_STRING(instructions.get())[offset] == static_cast<char>(instruction);
}

// Whether the interpreter reports that this frame begins, resumes or is thrown into. From 3.12 on
// hooks get events that a library fires, too, with the frame of the library's caller, which stands
// at the instruction that called the library. On 3.12 a call alone is taken for one.
inline bool is_at_begin([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  const int operation = frame->instr_ptr->op.code;
#ifdef RESUME_CHECK_JIT
  if (operation == RESUME_CHECK_JIT) return true;
#endif
  if (operation == INSTRUMENTED_INSTRUCTION) {  // a tool is told of each instruction
    const auto offset = _PyInterpreterFrame_LASTI(frame) * Py_ssize_t{sizeof(_Py_CODEUNIT)};
    return has_instruction(code_of(frame), offset, RESUME) || runs_first(frame);
  }
  return operation == INSTRUMENTED_RESUME || operation == RESUME || operation == RESUME_CHECK ||
         runs_first(frame);
#elif PY_VERSION_HEX >= 0x030c0000
  const auto offset = _PyInterpreterFrame_LASTI(frame) * Py_ssize_t{sizeof(_Py_CODEUNIT)};
  return !has_instruction(code_of(frame), offset, CALL) &&
         !has_instruction(code_of(frame), offset, CALL_FUNCTION_EX);
#else
  return true;
#endif
}
// The same without a few rare cases, in which it is false.
inline bool is_at_resume([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return begin_is_reported_later(frame);
#elif PY_VERSION_HEX >= 0x030c0000
  return frame->prev_instr->op.code == INSTRUMENTED_RESUME;
#else
  return true;
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

// f(*arguments) or f(**arguments).
inline bool unpacks_arguments(PyCodeObject* code, Py_ssize_t offset) noexcept {
  return has_instruction(code, offset, CALL_FUNCTION_EX);
}
inline bool is_raise(PyCodeObject* code, Py_ssize_t offset) noexcept {
  return has_instruction(code, offset, RAISE_VARARGS);
}

// The frame that calls this one, if no C code is between them. Before 3.12 there is no need to
// know.
inline InterpreterFrame* direct_caller_of([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030c0000
  InterpreterFrame* const caller = frame->previous;
  return caller == nullptr || is_of_interpreter(caller) ? nullptr : caller;
#else
  return nullptr;
#endif
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

// 3.13 with a GIL calls the __init__ of a class without asking the frame hook, once it has
// specialised the call.
inline constexpr bool kInitPassesHook =
    kHasGil && PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000;
// Whether the frame, the innermost one, is of such a call: it lies on the frame of the interpreter
// that checks what __init__ returns. Under a frame that was evaluated by a hook lies one of C.
inline bool has_passed_hook([[maybe_unused]] InterpreterFrame* frame) noexcept {
#if PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000
  InterpreterFrame* const below = frame->previous;
  return below != nullptr && below->owner != FRAME_OWNED_BY_CSTACK && is_of_interpreter(below);
#else
  return false;
#endif
}
}  // namespace timeloom::python
