// The CPU time of a process while it was measured, and its part in threads that recorded nothing,
// such as threads of numerical libraries. Child processes and Timeloom's own threads are left out.
//
// A process writes it as the property kCpuTimes of its spool (a killed process leaves it in the
// head of its ring); weaving writes the sum over all processes as the same property of the run.
//
// The threads that recorded nothing are known by the names that the kernel has for them. A process
// writes them into its spool, DefinitionKind::kNativeThreads; weaving writes the sums over all
// processes as the property kNativeThreads of the run, a line for each name:
//
//     THREADS NANOSECONDS NAME
//
// Plain values and pure functions. A text may come from anybody: a malformed one gives zeros,
// or what comes before the malformed line.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
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

inline constexpr char kNativeThreads[] = "timeloom::native_threads";

struct NativeThreads {  // of one name
  std::uint64_t threads = 0;
  std::uint64_t cpu_ns = 0;
};
inline void add(NativeThreads& sum, const NativeThreads& more) noexcept {
  sum.threads += more.threads;
  sum.cpu_ns += more.cpu_ns;
}
using NativeThreadsByName = std::map<std::string, NativeThreads, std::less<>>;

inline std::string to_text(const NativeThreadsByName& all) {
  std::string text;
  for (const auto& [name, sum] : all) {
    std::string line = name;  // a line ends the name of a thread in the text, not in the kernel
    std::ranges::replace(line, '\n', ' ');
    text += std::to_string(sum.threads) + " " + std::to_string(sum.cpu_ns) + " " + line + "\n";
  }
  return text;
}

inline NativeThreadsByName native_threads_of(std::string_view text) {
  NativeThreadsByName all;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    NativeThreads one;
    const char* const end = line.data() + line.size();
    const auto [blank, error] = std::from_chars(line.data(), end, one.threads);
    if (error != std::errc() || blank == end || *blank != ' ') break;
    const auto [second, other_error] = std::from_chars(blank + 1, end, one.cpu_ns);
    if (other_error != std::errc() || second == end || *second != ' ') break;
    add(all[std::string(second + 1, end)], one);
  }
  return all;
}

}  // namespace timeloom
