// The bytes that a program has allocated in each memory space of Kokkos, since Kokkos has loaded
// the library.
//
// Any thread. Nothing throws.
#pragma once

#include <cstdint>
#include <string_view>

namespace timeloom::kokkos {

// The number of bytes after a change of the space, which `grow` adds or takes away. The number
// never falls below 0.
std::uint64_t change_bytes_in(std::string_view space, std::uint64_t bytes, bool grow) noexcept;

}  // namespace timeloom::kokkos
