// Signals that end a process: from outside (SIGTERM) or by its own fault (SIGSEGV).
// Used by one thread at a time; nothing throws.
#pragma once

#include <cstddef>
#include <span>

namespace timeloom::os {

// Installs handlers that call `note` with the number of a signal that is about to end
// the process and then let it end as without a handler. Signals that the program handles
// or ignores are left alone, and a handler that it installs later replaces ours.
// REQUIRES: `note` is async-signal-safe.
void watch_fatal_signals(void (*note)(int signal)) noexcept;

// The program has changed what it does about `signal`: if that is the default action again, and
// signals are watched, our handler comes back.
void watch_fatal_signal_again(int signal) noexcept;

// Gives the calling thread a stack for handlers of signals, if it has none, until it ends:
// without one no handler runs when the thread's own stack has overflown. The stack that it has now;
// empty: none.
std::span<const std::byte> give_signal_stack() noexcept;

// Restores the default action of those signals whose handler is still ours.
void unwatch_fatal_signals() noexcept;

}  // namespace timeloom::os
