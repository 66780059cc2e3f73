// For what records beside the threads of the program, into a file of its own in the spool: the
// GPU (src/gpu). Any thread.
#pragma once

#include <cstdint>

#include "core/known_directory.hpp"

namespace timeloom::record {

// The spool of the running measurement; an empty path: none runs. Throws std::bad_alloc.
KnownDirectory running_spool();

// That many events of the running measurement could not be kept in the file.
void count_lost(std::uint64_t events) noexcept;

// Sets the function that stop() calls first, on its thread and while the measurement runs, so that
// the file is complete when it ends; nullptr: none. Nothing is held meanwhile.
void before_stop(void (*function)() noexcept) noexcept;

}  // namespace timeloom::record
