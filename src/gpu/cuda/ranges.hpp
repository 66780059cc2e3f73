// Ranges that the program names with NVTX, for the file of the current measurement.
//
// Any thread may call this function. Nothing throws; a range is dropped if nothing is measured.
#pragma once

#include <cstdint>
#include <string_view>

namespace timeloom::cuda {

// Prepares for ranges; false: this process records none.
bool begin_ranges() noexcept;

// `thread`: its id in the operating system. Times are ticks.
void add_range(std::string_view name, std::uint64_t thread, std::uint64_t start,
               std::uint64_t end) noexcept;

}  // namespace timeloom::cuda
