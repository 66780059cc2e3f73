// The CPU time of a process while it was measured, and its part in threads that recorded nothing,
// such as threads of numerical libraries. Child processes and Timeloom's own threads are left out.
//
// A process writes it as the property kCpuTimes of its spool (a killed process leaves it in the
// head of its ring); weaving writes the sum over all processes as the same property of the run.
// Plain values and pure functions. A text may come from anybody: a malformed one gives zeros.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom {

inline constexpr char kCpuTimes[] = "timeloom::cpu_times";

struct CpuTimes {  // nanoseconds
  std::uint64_t process = 0;
  std::uint64_t other = 0;  // of these, in threads that recorded nothing
  bool known() const noexcept { return process > 0; }
};

inline std::string to_text(const CpuTimes& times) {
  return std::to_string(times.process) + " " + std::to_string(times.other);
}

inline CpuTimes cpu_times_of(std::string_view text) {
  CpuTimes times;
  const char* const end = text.data() + text.size();
  const auto [blank, error] = std::from_chars(text.data(), end, times.process);
  if (error != std::errc() || blank == end || *blank != ' ') return {};
  const auto [rest, second] = std::from_chars(blank + 1, end, times.other);
  return second == std::errc() && rest == end && times.other <= times.process ? times : CpuTimes{};
}

}  // namespace timeloom
