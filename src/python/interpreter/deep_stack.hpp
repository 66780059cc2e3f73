// Room for deep recursion under a frame-evaluation hook.
//
// Calls from Python to Python take no C stack in plain CPython. With a hook each
// takes some, and counts as a call of C. So that a program may recurse as deep
// as without us, evaluation goes on on a further C stack, with the interpreter's
// count of C calls set back, before either runs out. Needs the GIL.
#pragma once

#include "python/interpreter/c_stack.hpp"
#include "python/interpreter/compat_depth.hpp"

namespace timeloom::python {

// Below this address little of the C stack is left. Its first value is larger than every address,
// so that evaluate_with_room() is called and finds the right one.
extern constinit thread_local std::uintptr_t t_stack_floor;

inline bool stack_runs_low(PyThreadState* thread) noexcept {
  if (kStackGuard == StackGuard::kCount && c_calls_left(thread) < kCCallLimit / 2) return true;
  // Where the caller's part of the stack ends. The address of our own frame would take a register.
  return reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()) < t_stack_floor;
}

// evaluator(thread, frame, throwing) with enough C stack, whatever is left here.
PyObject* evaluate_with_room(FrameEvaluator evaluator, PyThreadState* thread,
                             InterpreterFrame* frame, int throwing);

}  // namespace timeloom::python
