// Makes the references of loaded objects to a function of another library lead elsewhere, as a
// debugger would: without starting the program anew, as LD_PRELOAD needs it.
//
// One thread at a time. Nothing throws.
#pragma once

#include <cstdint>

namespace timeloom::os {

// In every object that needs a library whose name begins so. Objects that are loaded later need
// another call; those that look the function up themselves (dlsym) go on to find it.
void redirect_references(const char* library, const char* function, const void* to) noexcept;

// How many objects have been loaded so far, to know when another call is due.
std::uint64_t loaded_objects() noexcept;

}  // namespace timeloom::os
