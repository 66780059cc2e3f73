#include "core/text/plain_text.hpp"

#include <algorithm>
#include <array>

namespace timeloom {

bool is_command(std::uint32_t character) noexcept {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 11> kAll = {{{0, 0x1f},
                                           {0x7f, 0x9f},
                                           {0x61c, 0x61c},
                                           {0x200e, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2066, 0x2069},
                                           {0x200b, 0x200b},
                                           {0x2060, 0x2064},
                                           {0xfeff, 0xfeff},
                                           {0xfff9, 0xfffb},
                                           {0xe0001, 0xe007f}}};
  return std::ranges::any_of(kAll, [&](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

std::uint32_t character_at(std::string_view text, std::size_t at) noexcept {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return first;
  std::uint32_t value = first < 0xe0 ? first & 0x1fu : first < 0xf0 ? first & 0x0fu : first & 0x07u;
  for (std::size_t i = at + 1; i < text.size() && is_continuation(text[i]); ++i) {
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  return value;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    while (i + length < text.size() && is_continuation(text[i + length])) ++length;
    if (is_command(character_at(text, i))) {
      result += '?';
    } else {
      result += text.substr(i, length);
    }
    i += length;
  }
  return result;
}

}  // namespace timeloom
