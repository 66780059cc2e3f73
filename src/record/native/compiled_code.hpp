// Compiled code that reports its calls: functions built with -finstrument-functions call
// __cyg_profile_func_enter and __cyg_profile_func_exit, which libtimeloom.so and the wrapper
// library `compiler` export. They record into the stream of the calling thread, like native code
// (native_call.hpp).
//
// A function is defined where it is entered first; from then on an event finds its word by the
// address (code_table.hpp). Functions that an exception or longjmp() leaves without an event are
// closed by end_functions_below(), else by the leave of a function further out. Nothing is recorded
// by code that the recorder itself calls, such as an allocation, nor in a signal handler that has
// interrupted it, in a child of vfork(), or without a measurement. errno stays as it is. Any
// thread; nothing throws.
#pragma once

namespace timeloom::record {

// `frame`: the stack pointer of the function where it calls the hook; nullptr: not known.
void enter_function(const void* function, const void* frame) noexcept;
void leave_function(const void* function) noexcept;

// The calling thread goes on in a function of any language whose stack pointer is `frame`: records
// the ends of the functions that an exception or a jump has left. Functions stay open if their
// frames do not prove it: in inlined code, on stacks other than the thread's own.
void end_functions_below(const void* frame) noexcept;

// Decides which functions are not recorded: called once for each function in a measurement, on the
// thread that enters it, while that thread records nothing. nullptr: all are recorded.
using LeavesOut = bool (*)(const void* function) noexcept;
void leave_out_functions(LeavesOut function) noexcept;

// Forgets all functions: a measurement begins, or other code may lie at their
// addresses. They are defined anew.
void forget_code() noexcept;
// The same if an object has been unloaded since the last call.
void forget_unloaded_code() noexcept;

}  // namespace timeloom::record
