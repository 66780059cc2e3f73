// Windows: recording is switched on and off at times and at regions (--from, --until).
//
// Regions are watched functions (watched.hpp): while a window is awaited, nothing else is observed;
// while it is open, other functions cost the same as always. All functions need the GIL. Throws
// only std::bad_alloc.
#pragma once

#include <cstdint>

#include "core/window.hpp"
#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// The functions that open and close windows in a session.
struct WindowActions {
  void (*open)();              // starts recording
  void (*close)(bool awaits);  // stops it; `awaits`: another window by a region may open
};

// Called at the start of the measurement of a process. `start_ns`: the start of the program on
// CLOCK_MONOTONIC. Returns true if recording is on from the start.
bool begin_windows(const Window& window, std::uint64_t start_ns, const WindowActions& actions);
// True if the region of --from is to be watched while nothing is recorded.
bool awaits_region() noexcept;
void end_windows() noexcept;

// Called around a fork, since a thread of Timeloom waits for times.
void pause_windows() noexcept;
void resume_windows() noexcept;

// Called in a forked child, which counts its own windows.
void count_windows_of_child() noexcept;

// The number of windows so far.
std::uint64_t windows_opened() noexcept;

}  // namespace timeloom::python
