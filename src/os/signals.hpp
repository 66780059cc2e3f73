// Signals that end a process, from outside (SIGTERM) or by its own fault (SIGSEGV).
// Used by one thread at a time; nothing throws.
#pragma once

#include <cstddef>
#include <span>

namespace timeloom::os {

// Installs handlers for signals that would end the process: they call `note` with the number
// of the signal, then let the process end as it would without them. Signals that the program
// handles or ignores are left alone, and a handler that it installs later replaces ours.
// REQUIRES: `note` is async-signal-safe.
void watch_fatal_signals(void (*note)(int signal)) noexcept;

// To be called when the program has changed its action for `signal`: if that is the default action
// again, and signals are watched, our handler is installed again.
void watch_fatal_signal_again(int signal) noexcept;

// Gives the calling thread a stack for signal handlers until it ends, unless it has one: without
// it no handler runs after the thread's own stack has overflowed. Returns the stack that the thread
// has now; empty: none.
std::span<const std::byte> give_signal_stack() noexcept;

// Restores the default action of the signals whose handler is still ours.
void unwatch_fatal_signals() noexcept;

}  // namespace timeloom::os
