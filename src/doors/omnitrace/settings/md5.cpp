// MD5, as RFC 1321 describes it: a name for a command line, no protection of anything.
//
// Not Python's hashlib: the program timeloom makes the same names (tools/omnitrace_job.cpp), and
// it knows no Python.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "doors/omnitrace/settings/omnitrace_names.hpp"

namespace timeloom {
namespace {

using State = std::array<std::uint32_t, 4>;

std::uint32_t word_at(const std::string& text, std::size_t place) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i-- > 0;) {
    word = word << 8 | static_cast<std::uint8_t>(text[place + i]);
  }
  return word;
}

void add_block(State& state, const std::string& text, std::size_t place) {
  constexpr std::array<std::array<int, 4>, 4> kShifts = {
      {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};
  auto [a, b, c, d] = state;
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t mixed = 0, word = 0;
    switch (i / 16) {
      case 0: mixed = (b & c) | (~b & d), word = i; break;
      case 1: mixed = (d & b) | (~d & c), word = (5 * i + 1) % 16; break;
      case 2: mixed = b ^ c ^ d, word = (3 * i + 5) % 16; break;
      default: mixed = c ^ (b | ~d), word = 7 * i % 16;
    }
    const auto constant =
        static_cast<std::uint32_t>(std::floor(std::abs(std::sin(i + 1.0)) * 4294967296.0));
    const std::uint32_t sum = mixed + a + constant + word_at(text, place + std::size_t{4} * word);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShifts[i / 16][i % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

std::string md5(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{8} * text.size();
  for (unsigned i = 0; i < 8; ++i) padded += static_cast<char>(bits >> (8 * i) & 0xff);
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::size_t place = 0; place < padded.size(); place += 64) add_block(state, padded, place);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (const std::uint32_t word : state) {
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t byte = word >> (8 * i) & 0xff;
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    }
  }
  return result;
}

}  // namespace timeloom
