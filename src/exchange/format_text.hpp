// Names of a run as text of a format. Programs choose names freely: they may contain invalid UTF-8,
// control characters, quotes or separators.
//
// Plain functions; they throw only std::bad_alloc.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom::exchange {

// Valid UTF-8: each invalid byte becomes U+FFFD.
std::string utf8(std::string_view text);

// The same on one line: characters that control terminals or text direction (is_command()) become
// '?'.
std::string one_line(std::string_view text);

// A JSON string with its quotes; control characters are escaped.
void append_json(std::string& to, std::string_view text);

// Escapes the same characters in a complete JSON text.
std::string without_commands(std::string json);

// A CSV field, quoted where RFC 4180 requires it. Control characters, except for line feed and tab,
// are written as in JSON.
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

// A JSON number; null for values that JSON cannot represent.
void append_json_number(std::string& to, double number);

}  // namespace timeloom::exchange
