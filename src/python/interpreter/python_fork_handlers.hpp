// Whether the handlers of a fork still run.
//
// From 3.12 on CPython counts the threads of the process when the handlers of a fork have run, and
// warns if there are several. A pending call (pending_call.hpp) that is made after a fork may run
// earlier than that, inside a handler that is written in Python, as logging has one.
#pragma once

#include "python/interpreter/pending_call.hpp"

namespace timeloom::python {

// The first handler before a fork. With the GIL.
void note_fork() noexcept;

// Whether the calling thread has begun a fork and runs its handlers. With the GIL; REQUIRES: called
// by the interpreter between two instructions.
bool in_fork_handlers() noexcept;

namespace detail {
template <void (*kFunction)() noexcept>
int call_after_handlers(void*) {
  if (!in_fork_handlers() || !call_on_main_thread(call_after_handlers<kFunction>)) kFunction();
  return 0;
}
}  // namespace detail

// Called by a handler of a fork: the function runs when all handlers have run, or at once if
// CPython's list of pending calls is full. With the GIL.
template <void (*kFunction)() noexcept>
void call_after_fork() noexcept {
  if (!call_on_main_thread(detail::call_after_handlers<kFunction>)) kFunction();
}

}  // namespace timeloom::python
