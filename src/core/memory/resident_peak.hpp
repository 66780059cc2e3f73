// The most resident memory (RSS) that a process has had, and the least limit that its control
// groups set. A process writes it as the property kResidentPeak of its spool; weaving writes the
// largest of all processes as the same property of the run.
//
// Plain values and pure functions, for any thread. A text may come from anybody: a malformed one
// gives zeros.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace timeloom {

inline constexpr char kResidentPeak[] = "timeloom::resident_peak";

struct ResidentPeak {  // bytes; 0: not known
  std::uint64_t peak = 0;
  std::uint64_t limit = 0;
  bool known() const noexcept { return peak > 0; }
  // The peak is at least four fifths of the limit.
  bool is_near() const noexcept { return limit > 0 && peak >= limit - limit / 5; }
};

// The text in `buffer`, which takes two numbers of 20 digits.
inline std::string_view to_text(const ResidentPeak& resident, std::array<char, 48>& buffer) {
  const int size = std::snprintf(buffer.data(), buffer.size(), "%" PRIu64 " %" PRIu64,
                                 resident.peak, resident.limit);
  return {buffer.data(), static_cast<std::size_t>(std::max(size, 0))};
}

inline std::string to_text(const ResidentPeak& resident) {
  std::array<char, 48> buffer;
  return std::string(to_text(resident, buffer));
}

inline ResidentPeak resident_peak_of(std::string_view text) {
  ResidentPeak resident;
  const char* const end = text.data() + text.size();
  const auto [blank, error] = std::from_chars(text.data(), end, resident.peak);
  if (error != std::errc() || blank == end || *blank != ' ') return {};
  const auto [rest, second] = std::from_chars(blank + 1, end, resident.limit);
  return second == std::errc() && rest == end ? resident : ResidentPeak{};
}

}  // namespace timeloom
