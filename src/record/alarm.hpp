// Calls a function at a given time, on a thread of ours that ends then.
//
// One for the process; used by one thread at a time (in an extension: with a
// ControlLock). Before a fork that is known of it is stopped; after any other the child
// has none.
#pragma once

#include <cstdint>

namespace timeloom::record {

// `ring` is called at `at_ns` on CLOCK_MONOTONIC, and every millisecond again
// until it returns true. Replaces an alarm that is set.
void set_alarm(std::uint64_t at_ns, bool (*ring)() noexcept) noexcept;
// Returns when `ring` does not run any more.
void cancel_alarm() noexcept;

}  // namespace timeloom::record
