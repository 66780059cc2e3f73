// Windows: recording goes on and off at times and at regions (--from, --until).
//
// Regions are watched functions (watched.hpp): while a window is awaited, nothing
// else is observed; while it lasts, other functions cost what they always do.
// All functions need the GIL.
#pragma once

#include <cstdint>

#include "core/window.hpp"
#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// The functions by which a session opens and closes its windows.
struct WindowActions {
  void (*open)();              // record from here on
  void (*close)(bool awaits);  // do not; `awaits`: another window by a region may come
};

// Begins with the measurement of a process. `start_ns`: the start of the program
// on CLOCK_MONOTONIC. Returns whether recording is on from the beginning.
bool begin_windows(const Window& window, std::uint64_t start_ns, const WindowActions& actions);
// Whether the region of --from is to be watched while nothing is recorded.
bool awaits_region() noexcept;
void end_windows() noexcept;

// Around a fork: a thread of ours waits for times.
void pause_windows() noexcept;
void resume_windows() noexcept;

// In a forked child, whose windows are counted for themselves.
void count_windows_of_child() noexcept;

// How many windows there were so far.
std::uint64_t windows_opened() noexcept;

}  // namespace timeloom::python
