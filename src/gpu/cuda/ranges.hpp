// Ranges and marks that the program names with NVTX, for the file of the current measurement.
//
// Any thread may call this function. Nothing throws; a range is dropped if nothing is measured.
#pragma once

#include <cstdint>
#include <string_view>

namespace timeloom::cuda {

// Prepares for ranges; false: this process records none.
bool begin_ranges() noexcept;

struct Range {
  std::string_view name;
  std::string_view domain{};    // empty: the default
  std::string_view category{};  // empty: none
  std::uint64_t thread = 0;     // its id in the operating system
  std::uint64_t start = 0;      // ticks
  std::uint64_t end = 0;        // of a mark: its start
};
void add_range(const Range& range) noexcept;

}  // namespace timeloom::cuda
