// Endings of a process that run no exit handlers: os._exit, os.exec*, signals; and calls that the
// kernel allows only in a process with one thread: os.unshare, os.setns. All functions need the
// GIL; nothing throws.
#pragma once

namespace timeloom::python {

// From now on, while something is being measured: os._exit() first finishes the measurement.
// Replacing or killing the process is noted in the spool, and so is the end of a child that Python
// has waited for. Timeloom's thread ends before calls that require a single thread. References to
// these functions that the program took earlier work as well.
void watch_process_end() noexcept;
// Runs the parts that are Python code, during which other threads may run: before anything has
// started.
void prepare_watch_of_process_end() noexcept;
// Whether the calling thread forks in order to run another program; true in its child as well.
bool forks_for_exec() noexcept;
// Called in a measured forked child: a child of _posixsubprocess.fork_exec() that runs preexec_fn
// does nothing before it becomes another program, and this is noted.
void note_fork_for_exec() noexcept;
// Removes the signal handlers that are still Timeloom's, and restores those functions.
void unwatch_process_end() noexcept;

}  // namespace timeloom::python
