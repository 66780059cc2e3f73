#include "convert/text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace timeloom::convert {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t place) {
  return place < text.size() ? static_cast<std::uint8_t>(text[place]) : 0;
}

bool continues(std::uint8_t byte) { return (byte & 0xc0) == 0x80; }

// The length of the character at `place`; 0: no valid one is there.
std::size_t character(std::string_view text, std::size_t place) {
  const std::uint8_t first = byte_at(text, place), second = byte_at(text, place + 1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !continues(second)) return 0;
  if (first < 0xe0) return 2;
  if (!continues(byte_at(text, place + 2))) return 0;
  if (first < 0xf0) {
    const bool too_long = first == 0xe0 && second < 0xa0;
    const bool surrogate = first == 0xed && second >= 0xa0;
    return too_long || surrogate ? 0 : 3;
  }
  if (!continues(byte_at(text, place + 3))) return 0;
  return (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90) ? 0 : 4;
}

// Calls take(character) for each, with the replacement in the place of what is none.
template <typename Take>
void for_each_character(std::string_view text, const Take& take) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character(text, i);
    take(length == 0 ? kReplacement : text.substr(i, length));
    i += length == 0 ? 1 : length;
  }
}

bool is_control(std::string_view one) {
  const auto byte = static_cast<std::uint8_t>(one.front());
  return byte < 0x20 || byte == 0x7f || (byte == 0xc2 && byte_at(one, 1) < 0xa0);
}

}  // namespace

std::string utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](std::string_view one) { result += one; });
  return result;
}

std::string one_line(std::string_view text) {
  std::string result;
  for_each_character(
      text, [&](std::string_view one) { result += is_control(one) ? std::string_view("?") : one; });
  return result;
}

void append_json(std::string& to, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  to += '"';
  for_each_character(text, [&](std::string_view one) {
    const auto byte = static_cast<std::uint8_t>(one.front());
    if (byte == '"' || byte == '\\') {
      to += '\\';
      to += one;
    } else if (byte < 0x20 || byte == 0x7f) {
      to += "\\u00";
      to += kHex[byte >> 4];
      to += kHex[byte & 15];
    } else {
      to += one;
    }
  });
  to += '"';
}

void append_csv(std::string& to, std::string_view text) {
  const std::string clean = utf8(text);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) {
    to += clean;
    return;
  }
  to += '"';
  for (const char byte : clean) {
    if (byte == '"') to += '"';
    to += byte;
  }
  to += '"';
}

void append_microseconds(std::string& to, std::uint64_t nanoseconds) {
  append_number(to, nanoseconds / 1000);
  const auto rest = static_cast<unsigned>(nanoseconds % 1000);
  to += '.';
  to += static_cast<char>('0' + rest / 100);
  to += static_cast<char>('0' + rest / 10 % 10);
  to += static_cast<char>('0' + rest % 10);
}

void append_json_number(std::string& to, double number) {
  if (std::isfinite(number)) {
    append_number(to, number);
  } else {
    to += "null";
  }
}

}  // namespace timeloom::convert
