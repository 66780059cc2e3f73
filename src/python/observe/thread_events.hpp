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

// A number that no other thread or task of this process has.
std::uint64_t next_creation_number() noexcept;

}  // namespace timeloom::python
