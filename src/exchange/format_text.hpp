// Names of a run as the text of a format: names are whatever the program made them, be it no UTF-8,
// control characters, quotes or separators.
//
// Plain functions; nothing throws.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom::exchange {

// Valid UTF-8: bytes that are none become U+FFFD each.
std::string utf8(std::string_view text);

// The same on one line: what commands a terminal or moves text (is_command()) becomes '?'.
std::string one_line(std::string_view text);

// A string of JSON with its quotes; these characters are escaped.
void append_json(std::string& to, std::string_view text);

// The same of a whole text of JSON.
std::string without_commands(std::string json);

// A field of CSV, quoted where RFC 4180 wants it. The same characters, but line feed and tab, are
// written as in JSON.
void append_csv(std::string& to, std::string_view text);

template <typename Number>
requires std::integral<Number> || std::floating_point<Number>
void append_number(std::string& to, Number number) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
  to.append(digits, end.ptr);
}

// Nanoseconds as microseconds: "1234.567".
void append_microseconds(std::string& to, std::uint64_t nanoseconds);

// A number of JSON; null for what JSON has no number for.
void append_json_number(std::string& to, double number);

}  // namespace timeloom::exchange
