// The interpreters of this process, with the main one. C, without exceptions.
#pragma once

#include <cstdint>

// Stores the number that have begun since the start of Python, some of which may have failed to,
// and the number that live. Needs the GIL of one of them.
extern "C" void timeloom_count_interpreters(std::int64_t* begun, std::int64_t* alive);
