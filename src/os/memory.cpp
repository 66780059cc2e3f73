#include "os/memory.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "os/read_file.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace timeloom::os {

// The peak of getrusage() would include the process that started the program, if it used more.
ResidentMemory resident_memory() noexcept try {
  const std::string status = read_file("/proc/self/status");
  const auto in_bytes = [&status](const char* name) -> std::uint64_t {
    const char* const line = std::strstr(status.c_str(), name);
    return line == nullptr ? 0 : 1024 * std::strtoull(line + std::strlen(name), nullptr, 10);
  };
  return {in_bytes("\nVmRSS:"), in_bytes("\nVmHWM:")};
} catch (const std::bad_alloc&) {
  return {};
}

void share_heaps([[maybe_unused]] unsigned count) noexcept {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::clamp(count, 1u, unsigned{INT_MAX})));
#endif
}

}  // namespace timeloom::os
