// The stacks of samples for calls that the instrumenter has not seen, since they began while it was
// paused (cost/instrumenter_pause.hpp): their time is estimated (core/samples/estimated_time.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace timeloom::python {

// For SampleOptions::walk, once the instrumenter was paused: the functions and the other regions
// that are open on the calling thread, the innermost first; nothing, where all of them are
// recorded. Functions that are not recorded are marked by kUnrecordedFrame: those whose frames the
// thread has, and its recorder does not. Blocks of the user API and tasks lie around such
// functions, collections of garbage and wrapped calls inside them. Functions without a region are
// left out. Allocates nothing, takes no lock, and trusts no frame before it has looked.
std::size_t walk_unseen(std::span<std::uint32_t> regions, std::uint32_t innermost) noexcept;

// Whether the stack of a sample had a function without a region since the last
// define_open_functions(). Any thread.
bool met_unknown_function() noexcept;
// Defines the regions of all functions that are open on any thread, so that later samples have
// them. Needs the GIL, which other threads may get meanwhile.
void define_open_functions() noexcept;

}  // namespace timeloom::python
