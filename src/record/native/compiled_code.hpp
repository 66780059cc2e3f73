// Compiled code that reports its calls: functions built with -finstrument-functions call
// __cyg_profile_func_enter and __cyg_profile_func_exit, which libtimeloom.so and the wrapper
// library `compiler` export. They record into the stream of the calling thread, like native code
// (native_call.hpp).
//
// A function is defined where it is entered first; from then on an event finds its word by the
// address (code_table.hpp). Regions that an exception or longjmp() has left open are closed by the
// leave of a function further out. Nothing is recorded by code that the recorder itself calls, such
// as an allocation, nor in a signal handler that has interrupted it, in a child of vfork(), or
// without a measurement. errno stays as it is. Any thread; nothing throws.
#pragma once

namespace timeloom::record {

void enter_function(const void* function) noexcept;
void leave_function(const void* function) noexcept;

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
