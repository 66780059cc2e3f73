// The ends of a process that run no code at exit: os._exit, os.exec*, signals; and calls that the
// kernel allows a process of one thread only: os.unshare, os.setns. All functions need the GIL.
#pragma once

namespace timeloom::python {

// From now on, as long as something is being measured: os._exit() finishes the
// measurement first, what replaces or kills the process is noted in the spool, and so is the end of
// a child for which Python has waited, and for calls that want the process to have one thread ours
// ends. Code that has taken a reference to these functions before is served as well.
void watch_process_end() noexcept;
// Runs what of that is Python code, for which other threads may run: before anything has begun.
void prepare_watch_of_process_end() noexcept;
// In a forked child that is measured: one of _posixsubprocess.fork_exec(), which runs preexec_fn,
// has nothing before it but to become another program, and that is noted.
void note_fork_for_exec() noexcept;
// Takes back the signal handlers that are still ours, and puts those functions back.
void unwatch_process_end() noexcept;

}  // namespace timeloom::python
