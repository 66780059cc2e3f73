#include "os/memory.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "os/read_file.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace timeloom::os {

// The peak of getrusage() would include the process that started the program, if it used more.
ResidentMemory resident_memory() noexcept {
  std::array<char, 1 << 14> status{};
  read_file("/proc/self/status", std::span(status).first(status.size() - 1));
  const auto in_bytes = [&status](const char* name) -> std::uint64_t {
    const char* const line = std::strstr(status.data(), name);
    return line == nullptr ? 0 : 1024 * std::strtoull(line + std::strlen(name), nullptr, 10);
  };
  return {in_bytes("\nVmRSS:"), in_bytes("\nVmHWM:")};
}

// The groups are found below the place where all of them are mounted on every Linux today. A
// container sees its own group as the root.
std::uint64_t memory_limit() noexcept try {
  constexpr std::string_view kVersion2 = "0::/";
  std::uint64_t least = 0;
  const std::string groups = read_file("/proc/self/cgroup");
  for (std::string_view line : pieces_of(groups, '\n')) {
    if (!line.starts_with(kVersion2) || line.find("/..") != std::string_view::npos) continue;
    std::string group(line.substr(kVersion2.size() - 1));
    for (;;) {
      const std::string text = read_file("/sys/fs/cgroup" + group + "/memory.max");
      const std::uint64_t limit = std::strtoull(text.c_str(), nullptr, 10);  // "max": 0
      if (limit > 0 && (least == 0 || limit < least)) least = limit;
      if (group.empty()) break;
      group.erase(group.rfind('/'));
    }
  }
  return least;
} catch (const std::bad_alloc&) {
  return 0;
}

void share_heaps([[maybe_unused]] unsigned count) noexcept {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::clamp(count, 1u, unsigned{INT_MAX})));
#endif
}

}  // namespace timeloom::os
