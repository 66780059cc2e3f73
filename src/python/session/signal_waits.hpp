// Keeps the signal of the samples from a program that waits for signals, such as a thread that
// takes all of them by signal.sigwait().
//
// With the GIL; nothing throws.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// `signals`: the module `_signal`, whose functions are replaced until unwatch_signal_waits().
void watch_signal_waits(PyObject* signals) noexcept;
// REQUIRES: no other thread runs Python; see with_world_stopped().
void unwatch_signal_waits() noexcept;

}  // namespace timeloom::python
