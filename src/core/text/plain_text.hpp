// Names of a run as text for people and programs: a program chooses its names freely, so they may
// contain characters that control a terminal, or move the words and lines around them.
//
// Plain functions for any thread; throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom {

// C0, DEL and C1, the separators of lines and paragraphs, the characters of bidirectional text, and
// invisible ones: U+200B, the word joiner and its like, U+FEFF, tags.
bool is_command(std::uint32_t character) noexcept;

// Whether a byte of UTF-8 is not the first of its character.
constexpr bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// The character that starts at `at`; bytes that are not UTF-8 give another one, or none.
std::uint32_t character_at(std::string_view text, std::size_t at) noexcept;

// The text with '?' in place of such characters.
std::string printable(std::string_view text);

}  // namespace timeloom
