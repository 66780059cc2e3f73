// Calls a function at a given time, on a thread of ours that ends then.
//
// One for each use in the process; used by one thread at a time (in an extension: with a
// ControlLock or the GIL). A forked child has none.
#pragma once

#include <cstdint>

namespace timeloom::record {

enum class AlarmUse : std::uint8_t { kWindow, kRest };

// Returns the nanoseconds after which it is to be called again; 0: done.
using Ring = std::uint64_t (*)() noexcept;

// `ring` is called at `at_ns` on CLOCK_MONOTONIC. Replaces an alarm of this use that is set.
void set_alarm(AlarmUse use, std::uint64_t at_ns, Ring ring) noexcept;
// Returns when the alarm's function does not run any more.
void cancel_alarm(AlarmUse use) noexcept;

}  // namespace timeloom::record
