#include "core/given_up.hpp"

#include <algorithm>
#include <charconv>

namespace timeloom {
namespace {

constexpr std::string_view kSeparator = " | ";

std::string entry_of(const Region& region) {
  std::string text =
      region.name + " (" + region.file + ":" + std::to_string(region.first_line) + ")";
  for (std::size_t at = 0; (at = text.find(kSeparator, at)) != std::string::npos;) text[at] = '_';
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < ' ') byte = '_';
  }
  return text;
}

}  // namespace

std::string ids_text(const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

std::vector<std::uint32_t> ids_of(std::string_view text) {
  std::vector<std::uint32_t> ids;
  while (!text.empty()) {
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc()) break;
    ids.push_back(id);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with(' ')) break;
    text.remove_prefix(1);
  }
  return ids;
}

std::string given_up_text(const std::vector<const Region*>& regions) {
  std::set<std::string> entries;
  for (const Region* region : regions) entries.insert(entry_of(*region));
  std::string text;
  for (const std::string& entry : entries) {
    text += (text.empty() ? "" : std::string(kSeparator)) + entry;
  }
  return text;
}

GivenUp::GivenUp(const std::map<std::string, std::string>& properties) {
  const auto found = properties.find(kGivenUp);
  std::string_view rest = found == properties.end() ? std::string_view() : found->second;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(kSeparator), rest.size());
    if (end > 0) entries_.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + kSeparator.size(), rest.size()));
  }
}

bool GivenUp::holds(const Region& region) const {
  return any() && entries_.contains(entry_of(region));
}

}  // namespace timeloom
