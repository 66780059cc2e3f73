// The handler of ours that Python calls last in a forked child: calls before it are those of
// handlers, calls after it are those of the program. All functions need the GIL; nothing throws.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// From now on, as long as something is being measured, it is known whether the program has
// registered handlers for forks.
void watch_fork_handlers(PyObject* posix) noexcept;
void unwatch_fork_handlers() noexcept;
// Before a fork: `handler` is called in the child after all others that are registered.
void call_after_fork_handlers(PyObject* handler) noexcept;

}  // namespace timeloom::python
