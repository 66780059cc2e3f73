// The guarantees of the GIL, for builds of CPython without one (PEP 703).
//
// The event path needs none of them: a recorder belongs to its thread, and the word kept with
// a code object is read in one load. Data that threads share (tables, the session) is used in a
// CriticalSection; data of other threads (their recorders, their frames) with the world
// stopped; a measurement is begun, ended and switched with the ControlLock held. With a GIL all
// three hold anyway and cost nothing. Nothing here throws.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// A critical section: at most one thread is in one at a time. Like the GIL, and unlike a mutex,
// it is left while its thread waits for anything, so that threads cannot deadlock, and a thread
// may enter it again. REQUIRES: an attached thread state.
class CriticalSection {
 public:
  CriticalSection(const CriticalSection&) = delete;
  CriticalSection& operator=(const CriticalSection&) = delete;
#ifdef Py_GIL_DISABLED
  CriticalSection() noexcept;
  ~CriticalSection() { PyCriticalSection_End(&section_); }

 private:
  PyCriticalSection section_;
#else
  CriticalSection() noexcept {}
  ~CriticalSection() {}
#endif
};

// The control lock serialises begin, end and switches of a measurement, and forks. A critical
// section is not enough for these, since they wait for other threads. A thread that waits for it
// can be stopped meanwhile, and may lock it again. A fork holds it, so that its child finds no
// switch half done and no lock of the interpreter held by a thread that the child lacks.
void lock_control() noexcept;
void unlock_control() noexcept;
void reset_control_lock() noexcept;  // in the child

// Holds the control lock for as long as it lives. Comes before a CriticalSection.
class ControlLock {
 public:
  ControlLock(const ControlLock&) = delete;
  ControlLock& operator=(const ControlLock&) = delete;
#ifdef Py_GIL_DISABLED
  ControlLock() noexcept { lock_control(); }
  ~ControlLock() { unlock_control(); }
#else
  ControlLock() noexcept {}
  ~ControlLock() {}
#endif
};

// Calls `function` with the world stopped: no other thread runs Python code or a function of
// Timeloom. REQUIRES: `function` does not call into the interpreter; calls are not nested.
void call_with_world_stopped(void (*function)(void*), void* context) noexcept;

template <typename Function>
void with_world_stopped(Function function) noexcept {
  call_with_world_stopped([](void* context) { (*static_cast<Function*>(context))(); }, &function);
}

}  // namespace timeloom::python
