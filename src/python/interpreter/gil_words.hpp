// The addresses at which threads of this process wait for the GIL of the main interpreter, from
// `*from` up to `*to`. C, without exceptions.
#pragma once

#include <cstdint>

// Returns 1; 0 if this Python has no GIL, or its place is not known: nothing is stored then. Needs
// the GIL.
extern "C" int timeloom_gil_words(std::uint64_t* from, std::uint64_t* to);
