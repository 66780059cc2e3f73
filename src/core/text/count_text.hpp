// Numbers as a person reads and writes them.
//
// Plain functions for any thread; nothing is thrown but what memory can.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace timeloom {

// "1,234,567".
std::string grouped(std::uint64_t number);

// "1 thread", "5 threads", "2,000 processes".
std::string plural(std::uint64_t number, std::string_view noun);

// Seconds of "500ms", "2.5s", "3min"; none where it is no such time, or below 0.
std::optional<double> seconds_in(std::string_view text);

}  // namespace timeloom
