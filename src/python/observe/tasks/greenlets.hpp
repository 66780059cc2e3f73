// Greenlets (and gevent, eventlet, which are made of them): stacks that a thread
// switches between, where a function may be left by going on somewhere else.
//
// While a greenlet does not run, its functions are left; when it goes on, they
// are entered again, above the functions of the thread's main greenlet. With --async-tasks
// each is a track of its own instead. The hook is greenlet.settrace(), one for each thread; a
// function that was set before is called as well. Needs the GIL.
#pragma once

namespace timeloom::python {

// Hooks the calling thread if the program has imported greenlet; called where
// new code is seen and where a thread begins.
void look_for_greenlets() noexcept;

// Removes the hook on the calling thread; hooks of other threads do nothing without a measurement.
void unhook_greenlets() noexcept;

// The measurement ends, or goes on in the child of a fork: the knowledge about
// greenlets that do not run is no longer valid.
void forget_greenlets() noexcept;

}  // namespace timeloom::python
