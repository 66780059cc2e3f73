// Redirects the references of loaded objects to a function of another library, as a debugger
// would: LD_PRELOAD would need a new start of the program.
//
// One thread at a time. Nothing throws.
#pragma once

#include <cstdint>

namespace timeloom::os {

// In every object that needs a library whose name starts with `library`. Objects that are loaded
// later need another call; code that looks the function up itself (dlsym) still gets the original.
void redirect_references(const char* library, const char* function, const void* to) noexcept;

// The number of objects loaded so far, which shows when another call is due.
std::uint64_t loaded_objects() noexcept;

}  // namespace timeloom::os
