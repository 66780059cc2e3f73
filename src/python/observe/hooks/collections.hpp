// Collections of Python's garbage collector, as regions: `gc.collect` below the function in which a
// collection happens, with the generation as a parameter, and with the number of objects collected
// as a value of the metric `gc.collected`.
//
// The interpreter calls the functions in gc.callbacks when a collection starts and when it stops.
// Two of ours are there, at the start of the list and at its end, so that the callbacks of the
// program lie inside the region. If a program removes them, its further collections are not
// recorded.
//
// All functions need the GIL or, on builds without one, an attached thread state. Nothing throws.
#pragma once

#include "core/definitions.hpp"

namespace timeloom::python {

// No effect if collections are watched already, or not any more.
void watch_collections() noexcept;
void unwatch_collections() noexcept;

// For sub-interpreters, which watch their own collections; any thread. Whether the measurement
// records collections.
bool collections_recorded() noexcept;

}  // namespace timeloom::python
