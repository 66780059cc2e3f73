// Instrumenter "sampling": observes no calls. The stacks of Python functions are taken by the
// handler of the signal of samples (src/sample), which finds the region of a function with its code
// object; so every code object is asked for once, when it starts for the first time.
//
// Python 3.12 and later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "python/observe/hooks/instrumenter.hpp"

namespace timeloom::python {

extern const Instrumenter kSampling;

// In the child of a fork, whose measurement has no definitions yet: defines the regions of the
// functions that are open, and asks for all code objects again. Needs the GIL.
void define_sampled_code() noexcept;

// For SampleOptions::walk: the recorded functions of the calling thread, the innermost first.
// Allocates nothing, takes no lock, and trusts no frame before it has looked: the thread may have
// been interrupted anywhere. Without the GIL too, since a thread that has given it away stays in
// its frames.
std::size_t walk_functions(std::span<std::uint32_t> regions, std::uint32_t innermost) noexcept;
// The same where calls are recorded, for the functions that were throttled (budget.hpp): nothing,
// unless one of them is open. Frames whose calls are not recorded are marked by
// kUnrecordedFrame; the innermost one that is not marked is `innermost`, which lies inside all
// functions where it is not one itself, unless it is a region around them (regions_around.hpp).
std::size_t walk_throttled(std::span<std::uint32_t> regions, std::uint32_t innermost) noexcept;

// For SampleOptions::line: the source line of the innermost frame of a recorded function; of a
// region that is a block in a function, the innermost recorded frame. As the walks above.
std::uint32_t line_of_region(std::uint32_t region) noexcept;

}  // namespace timeloom::python
