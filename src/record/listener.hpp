// Waits on a thread of Timeloom for a message of another process; the thread then ends.
//
// One for the process. Functions are used by one thread at a time (in an extension: with a
// ControlLock and the GIL), `heard` runs on the thread of the listener. A forked child has none,
// and not the descriptor either. A program may close our descriptors and get their numbers for
// files of its own: descriptors that are no longer ours are left alone. Nothing throws.
#pragma once

#include <cstdint>

namespace timeloom::record {

// Takes the descriptor, of a socket, and calls `heard` once, with another descriptor of it: when
// the other side has written or closed, or at `until_ns` on CLOCK_MONOTONIC (0: no such time); with
// -1 a second at most after the program has closed it. Afterwards the descriptor is closed and the
// thread ends. False: there is already a listener, or no thread; the descriptor is the caller's
// then.
bool begin_listening(int descriptor, std::uint64_t until_ns,
                     void (*heard)(int descriptor) noexcept) noexcept;

// Before a fork: the thread ends until resume_listening(), unless `heard` is at work.
void pause_listening() noexcept;
void resume_listening() noexcept;

// Ends it without a call of `heard`, and closes the descriptor after `last`, which is called on
// this thread with what `heard` is called with. False: there is no listener, or `heard` is at work
// already: wait for it by is_listening().
bool stop_listening(void (*last)(int descriptor) noexcept) noexcept;
bool is_listening() noexcept;

}  // namespace timeloom::record
