// Stretches of time in which the instrumenter is paused, so that measuring keeps to its limit (see
// budget.hpp), for instrumenters that cannot leave out single functions.
//
// A thread of ours waits until the CPU time of the process is long enough and then makes the
// instrumenter go on. How much of the CPU time was seen is noted in the spool. Samples have the
// functions that run meanwhile (hooks/unseen_calls.hpp), whose regions that thread defines. Needs
// the GIL; nothing throws.
#pragma once

#include <cstdint>
#include <optional>

namespace timeloom::python {

// `pause`: of the instrumenter. `on_end` is called with the CPU time when a pause ends.
void enable_pauses(void (*pause)(bool paused) noexcept,
                   void (*on_end)(std::uint64_t cpu_ns) noexcept) noexcept;
// In the child of a fork: the instrumenter goes on, and the time is counted from here.
void restart_pauses() noexcept;
// The instrumenter may be used again. May release the GIL in between.
void disable_pauses() noexcept;

bool can_pause() noexcept;
// These two also for any thread without the GIL, and for handlers of signals.
bool is_paused() noexcept;
// Whether it was ever paused in this measurement, or in the one of a parent process that goes on
// here.
bool was_paused() noexcept;
// From now on until the process has used so much CPU time.
void pause_until(std::uint64_t cpu_ns) noexcept;

// Writes the times into the spool, which must still be open.
void note_stretches() noexcept;
// The share of the CPU time that was seen; none: it was never paused.
std::optional<double> observed_share() noexcept;

}  // namespace timeloom::python
