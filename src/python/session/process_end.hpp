// The ends of a process that run no code at exit: os._exit, os.exec*, signals; and calls that the
// kernel allows a process of one thread only: os.unshare, os.setns. All functions need the GIL.
#pragma once

namespace timeloom::python {

// From now on, as long as something is being measured: os._exit() finishes the
// measurement first, what replaces or kills the process is noted in the spool, and for calls that
// want the process to have one thread ours ends.
// Code that has taken a reference to these functions before is served as well.
void watch_process_end() noexcept;
// Takes back the signal handlers that are still ours, and puts those functions back.
void unwatch_process_end() noexcept;

}  // namespace timeloom::python
