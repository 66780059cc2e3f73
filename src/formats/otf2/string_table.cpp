#include "formats/otf2/string_table.hpp"

#include <algorithm>

namespace timeloom::otf2 {

namespace {

// A record must fit into one chunk; the largest chunks have 16 MiB.
constexpr std::size_t kLongestString = 15u << 20;

}  // namespace

std::string writable(const std::string& text, std::size_t longest) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == '\0')
      result += "\u2400";  // the picture of a zero byte
    else
      result += c;
  }
  if (result.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0u) == 0x80u) --end;
    result.resize(end);
    result += "\u2026";  // an ellipsis: the text was cut
  }
  return result;
}

OTF2_StringRef StringTable::intern(const std::string& text) {
  const std::lock_guard lock(mutex_);
  return find_or_add(text);
}

OTF2_StringRef StringTable::refer(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const OTF2_StringRef reference = find_or_add(text);
  if (referred_.size() <= reference) referred_.resize(reference + 1);
  referred_[reference] = true;
  return reference;
}

OTF2_StringRef StringTable::find_or_add(const std::string& text) {
  const auto [entry, fresh] =
      references_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
  if (fresh) {
    strings_.push_back(writable(text, kLongestString));
    longest_ = std::max(longest_, strings_.back().size());
  }
  return entry->second;
}

}  // namespace timeloom::otf2
