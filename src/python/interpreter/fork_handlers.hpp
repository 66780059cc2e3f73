// Whether the handlers of a fork still run.
//
// From 3.12 on CPython counts the threads of the process when the handlers of a fork have run, and
// warns if there are several. What is to run soon after a fork (pending_call.hpp) may come earlier,
// inside a handler that is written in Python, as logging has one.
#pragma once

namespace timeloom::python {

// The first handler before a fork. With the GIL.
void note_fork() noexcept;

// Whether the calling thread has begun a fork and runs its handlers. With the GIL; REQUIRES: called
// by the interpreter between two instructions.
bool in_fork_handlers() noexcept;

}  // namespace timeloom::python
