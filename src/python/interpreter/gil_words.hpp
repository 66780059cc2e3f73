// The addresses at which threads of this process wait for the GIL of the main interpreter.
#pragma once

#include <cstdint>

// 0: this Python has none, or its place is not known. With the GIL.
extern "C" int timeloom_gil_words(std::uint64_t* from, std::uint64_t* to);
