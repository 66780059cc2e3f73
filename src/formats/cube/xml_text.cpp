#include "formats/cube/xml_text.hpp"

#include <algorithm>
#include <utility>

namespace timeloom::cube {

namespace {

constexpr std::size_t kLongest = 4;  // bytes of a sequence

// True for nearly all characters.
bool is_plain(char byte) noexcept { return byte >= 0x20 && byte < 0x7f; }

bool is_good(std::string_view text) {
  while (!text.empty()) {
    const auto other = std::ranges::find_if_not(text, is_plain);
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    if (text.empty()) return true;
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// The number of bytes at the end that may be the start of a longer sequence.
std::size_t cut_off(std::string_view text) {
  for (std::size_t size = 1; size < kLongest && size <= text.size(); ++size) {
    const auto byte = static_cast<unsigned char>(text[text.size() - size]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // within a sequence
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > size ? size : 0;
  }
  return 0;
}

// True if the first line of the document names an encoding other than UTF-8.
bool names_other_encoding(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('>'));
  if (!line.starts_with("<?xml") || line.find("encoding=") == std::string_view::npos) return false;
  return line.find("UTF-8") == std::string_view::npos &&
         line.find("utf-8") == std::string_view::npos;
}

}  // namespace

std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const unsigned code = (first & 0xFu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return follows(1) && follows(2) && code >= 0x800 && !surrogate && code < 0xFFFE ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const unsigned code = (first & 7u) << 18 | (byte(1) & 0x3Fu) << 12;
    const bool good = code >= 0x10000 && code < 0x110000;
    return follows(1) && follows(2) && follows(3) && good ? 4 : 0;
  }
  return 0;
}

std::string replacement_of(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code < 0x20 ? std::string("\xE2\x90") + static_cast<char>(0x80 + code) : "\xEF\xBF\xBD";
}

std::string_view TextRepair::next(std::string_view piece) {
  if (!std::exchange(begun_, true)) off_ = names_other_encoding(piece);
  if (off_) return piece;
  const bool last = piece.empty();
  if (!held_.empty()) {
    held_ += piece;
    piece = text_ = std::exchange(held_, {});
  }
  if (!last) {
    const std::size_t rest = cut_off(piece);
    held_ = piece.substr(piece.size() - rest);
    piece.remove_suffix(rest);
  }
  if (is_good(piece)) return piece;
  std::string repaired;
  while (!piece.empty()) {
    const std::size_t length = sequence_length(piece);
    if (length == 0) {
      repaired += replacement_of(piece.front());
    } else {
      repaired += piece.substr(0, length);
    }
    piece.remove_prefix(length == 0 ? 1 : length);
  }
  text_ = std::move(repaired);
  return text_;
}

}  // namespace timeloom::cube
