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

// Called before the measurement ends: ends the locations of threads that have ended for Python, so
// that join() may have returned, though the system may not have ended them yet. REQUIRES: the world
// is stopped.
void end_threads() noexcept;

}  // namespace timeloom::python
