// Numbers as a person reads and writes them.
//
// Plain functions for any thread; throws only std::bad_alloc.
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

// Three significant digits of a number below 1000: "1.20", "12.0", "120".
std::string three_digits(double value);

// Decimal units: "999 B", "1.20 kB".
std::string size_text(std::uint64_t bytes);

// Seconds of "500ms", "2.5s", "3min"; none for other text and below 0.
std::optional<double> seconds_in(std::string_view text);

}  // namespace timeloom
