#include "exchange/format_text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/text/plain_text.hpp"

namespace timeloom::exchange {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t place) {
  return place < text.size() ? static_cast<std::uint8_t>(text[place]) : 0;
}

bool continues(std::uint8_t byte) { return (byte & 0xc0) == 0x80; }

// The length of the character at `place`; 0: it is not valid.
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

// Calls take(character) for each character; invalid ones become the replacement.
template <typename Take>
void for_each_character(std::string_view text, const Take& take) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character(text, i);
    take(length == 0 ? kReplacement : text.substr(i, length));
    i += length == 0 ? 1 : length;
  }
}

// REQUIRES: a valid character.
bool is_command_at(std::string_view one) {
  const auto byte = static_cast<std::uint8_t>(one.front());
  if (byte > 0x1f && byte < 0x7f) return false;
  return is_command(character_at(one, 0));
}

constexpr char kHex[] = "0123456789abcdef";

void append_unit(std::string& to, std::uint32_t unit) {
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += kHex[unit >> shift & 15];
}

// Escaped as "\u202e", or in two parts as in JSON: "\udb40\udc41".
void append_escaped(std::string& to, std::uint32_t character) {
  if (character < 0x10000) return append_unit(to, character);
  append_unit(to, 0xd7c0 + (character >> 10));
  append_unit(to, 0xdc00 + (character & 0x3ff));
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
  for_each_character(text, [&](std::string_view one) {
    result += is_command_at(one) ? std::string_view("?") : one;
  });
  return result;
}

void append_json(std::string& to, std::string_view text) {
  to += '"';
  for_each_character(text, [&](std::string_view one) {
    if (is_command_at(one)) return append_escaped(to, character_at(one, 0));
    if (one.front() == '"' || one.front() == '\\') to += '\\';
    to += one;
  });
  to += '"';
}

std::string without_commands(std::string json) {
  // The first bytes of all such characters outside ASCII; of ASCII, JSON text can contain only DEL.
  constexpr std::string_view kFirst = "\x7f\xc2\xd8\xe2\xef\xf3";
  std::size_t at = json.find_first_of(kFirst);
  if (at == std::string::npos) return json;
  std::string result;
  std::size_t done = 0;
  for (; at != std::string::npos; at = json.find_first_of(kFirst, at + 1)) {
    const std::string_view one = std::string_view(json).substr(at, character(json, at));
    if (one.empty() || !is_command_at(one)) continue;
    result.append(json, done, at - done);
    append_escaped(result, character_at(one, 0));
    done = at + one.size();
  }
  return result.append(json, done);
}

void append_csv(std::string& to, std::string_view text) {
  const std::size_t begin = to.size();
  bool quoted = false;
  for_each_character(text, [&](std::string_view one) {
    const char byte = one.front();
    quoted |= byte == ',' || byte == '"' || byte == '\n';
    if (byte != '\n' && byte != '\t' && is_command_at(one)) {
      return append_escaped(to, character_at(one, 0));
    }
    if (byte == '"') to += byte;
    to += one;
  });
  if (!quoted) return;
  to.insert(begin, 1, '"');
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

}  // namespace timeloom::exchange
