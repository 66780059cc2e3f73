// Objects that the program unloads: other code may be loaded where theirs was. Any thread; nothing
// throws.
#pragma once

#include <cstdint>

namespace timeloom::preload {

// The number of calls of dlclose() so far.
std::uint64_t unloads_so_far() noexcept;
// dlclose() of an object that stays loaded: it is not counted.
void close_object(void* object) noexcept;

}  // namespace timeloom::preload
