// Starts of threads and joins, as events: threads of `threading` get
// a number when they are started, which connects the events of both threads.
// Needs the GIL.
#pragma once

#include <cstdint>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// From now on Thread.start() and Thread.join() are watched.
void watch_threads();

// The thread of this Thread object (may be nullptr) begins, as `location`;
// called on that thread.
void note_begin_of(PyObject* thread, std::uint32_t location) noexcept;

// Before the measurement ends: threads that have ended for Python, so that join() may have
// returned, end now, though the system may still be at it. REQUIRES: the world is stopped.
void end_threads() noexcept;

}  // namespace timeloom::python
