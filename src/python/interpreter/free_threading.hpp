// What the GIL gives, for builds of CPython that have none (PEP 703).
//
// The event path needs nothing: a recorder belongs to its thread, and what a code
// object carries is read as it was written. What threads share (tables, the session)
// is used with an Exclusive; what belongs to other threads (their recorders, their
// frames) while they are stopped. Whoever switches a measurement has a Turn. With a GIL
// all of this is already so and costs nothing.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// As long as it lives, no other thread has one. Like the GIL, and unlike a mutex, it
// lets others in while the thread waits for anything, so that nobody waits for each
// other; and it may be taken again by who has it. Needs an attached thread state.
class Exclusive {
 public:
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;
#ifdef Py_GIL_DISABLED
  Exclusive() noexcept;
  ~Exclusive() { PyCriticalSection_End(&section_); }

 private:
  PyCriticalSection section_;
#else
  Exclusive() noexcept {}
  ~Exclusive() {}
#endif
};

// A turn for what begins, ends or switches a measurement, and for a fork: one thread at a
// time, where an Exclusive is not enough, since these wait for other threads. Who wants one
// waits where it can be stopped. May be taken again by who has it. A fork takes it before
// and gives it back afterwards: its child would find half done what another thread was
// switching, and locks of the interpreter held by a thread that it does not have.
void take_turn() noexcept;
void give_turn() noexcept;
void forget_turns() noexcept;  // in the child

// The same for as long as it lives. Taken before an Exclusive, or where one may let others in.
class Turn {
 public:
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
#ifdef Py_GIL_DISABLED
  Turn() noexcept { take_turn(); }
  ~Turn() { give_turn(); }
#else
  Turn() noexcept {}
  ~Turn() {}
#endif
};

// Calls `function` while no other thread runs Python code or is in a call of ours. It
// must not call into the interpreter. Not to be nested.
void call_alone(void (*function)(void*), void* context) noexcept;

template <typename Function>
void alone(Function function) noexcept {
  call_alone([](void* context) { (*static_cast<Function*>(context))(); }, &function);
}

}  // namespace timeloom::python
