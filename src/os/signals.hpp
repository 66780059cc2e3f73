// The signals by which a process is ended from outside or by its own fault.
#pragma once

namespace timeloom::os {

// Calls `note` with the number of a signal that is about to end the process, and
// then lets it end as if nobody had asked. Only signals that the program does not
// handle or ignore; what it installs later replaces ours. `note` must be
// async-signal-safe. One at a time; not for several threads at once.
void watch_fatal_signals(void (*note)(int signal)) noexcept;

// Takes back what is still ours.
void unwatch_fatal_signals() noexcept;

}  // namespace timeloom::os
