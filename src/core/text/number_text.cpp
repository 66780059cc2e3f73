#include "core/text/number_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace timeloom {
namespace {

// All of a number but its point, which may be several bytes.
constexpr std::string_view kPlain = "0123456789+-einfa";

template <typename... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 512> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), format, values...);
  std::string text(buffer.data(), static_cast<std::size_t>(std::max(length, 0)));
  const std::size_t point = text.find_first_not_of(kPlain);
  if (point == text.npos) return text;
  return text.replace(point, text.find_first_of(kPlain, point) - point, ".");
}

}  // namespace

std::string fixed_text(double value, int decimals) { return printed("%.*f", decimals, value); }
std::string general_text(double value) { return printed("%.6g", value); }

}  // namespace timeloom
