// The handler that Python calls last in a forked child: calls before it belong to other handlers,
// calls after it to the program. All functions need the GIL; nothing throws.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// From now on, while something is being measured, notices when the program registers fork handlers.
void watch_fork_handlers(PyObject* posix) noexcept;
void unwatch_fork_handlers() noexcept;
// Called before a fork: `handler` is called in the child after all other registered ones.
void call_after_fork_handlers(PyObject* handler) noexcept;

}  // namespace timeloom::python
