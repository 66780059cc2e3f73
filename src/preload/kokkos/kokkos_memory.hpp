// The bytes that a program has allocated in each memory space of Kokkos, since Kokkos has loaded
// the library.
//
// Any thread. Nothing throws.
#pragma once

#include <cstdint>
#include <string_view>

namespace timeloom::kokkos {

// Adds `bytes` to the bytes of the space, or (without `grow`) subtracts them, down to 0 at least.
// Returns the bytes after that, or 0 where no memory is left to count them.
std::uint64_t change_bytes_in(std::string_view space, std::uint64_t bytes, bool grow) noexcept;

}  // namespace timeloom::kokkos
