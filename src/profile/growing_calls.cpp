#include "profile/growing_calls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace timeloom::profile {
namespace {

constexpr std::string_view kBetweenEntries = " | ";  // not in a region_entry()

// "VISITS EARLY LATE CALLERS ENTRY"
std::optional<GrowingCalls> parsed(std::string_view text) {
  std::array<std::uint64_t, 4> numbers = {};
  for (std::uint64_t& number : numbers) {
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc() || end == last || *end != ' ') return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  const auto [visits, early, late, callers] = numbers;
  if (visits == 0 || late < early || text.empty()) return {};
  return GrowingCalls{visits, early, late, callers, std::string(text)};
}

}  // namespace

std::string growing_calls_text(const std::vector<GrowingCalls>& functions) {
  std::string text;
  for (const GrowingCalls& one : functions) {
    if (!text.empty()) text += kBetweenEntries;
    for (const std::uint64_t number : {one.visits, one.early, one.late, one.callers}) {
      text += std::to_string(number) + " ";
    }
    text += one.entry;
  }
  return text;
}

std::vector<GrowingCalls> growing_calls_of(std::string_view text) {
  std::vector<GrowingCalls> functions;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kBetweenEntries), text.size());
    if (auto one = parsed(text.substr(0, end))) functions.push_back(std::move(*one));
    text.remove_prefix(std::min(end + kBetweenEntries.size(), text.size()));
  }
  return functions;
}

}  // namespace timeloom::profile
