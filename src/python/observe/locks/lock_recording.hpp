// Records the locks of Python (--locks): which line makes and takes them, which thread has them,
// and the threads that wait (record/locks/lock_account.hpp).
//
// Part of a session; with the GIL of the main interpreter. Nothing throws: without memory or space
// on the disk, locks are not recorded.
#pragma once

namespace timeloom::python {

// REQUIRES: a measurement runs, and Python has a GIL.
void watch_locks() noexcept;
// Before the measurement stops. Threads that wait for a lock go on waiting.
void unwatch_locks() noexcept;
// In the child of a fork, whose measurement has begun.
void watch_locks_in_child() noexcept;
// Ends the recording of locks without marking the end in the file: a measurement is given up, or a
// forked child is not recorded.
void forget_locks() noexcept;

}  // namespace timeloom::python
