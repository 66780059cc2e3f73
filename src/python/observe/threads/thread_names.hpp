// Gives locations the names that the program's threads have. Needs the GIL.
#pragma once

#include <cstdint>
#include <string>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// Makes record ask us for the name of every thread that records for the first time.
void install_thread_namer() noexcept;

// The name that `threading` has for a running thread, by its pthread id; empty: none.
std::string name_of_running_thread(std::uintptr_t thread) noexcept;

// Tells the namer about a frame that is about to run and is not yet the current
// one; called by the frame hook on a thread that has not recorded yet.
void note_first_frame(InterpreterFrame* frame) noexcept;

// Threads may have been renamed since; called before a measurement ends.
void update_thread_names() noexcept;

}  // namespace timeloom::python
