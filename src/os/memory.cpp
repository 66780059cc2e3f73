#include "os/memory.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace timeloom::os {

// Of getrusage, the peak would be that of whoever has started the program, if that was more.
ResidentMemory resident_memory() noexcept {
  char bytes[4096];
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ::ssize_t size = ::read(file, bytes, sizeof bytes - 1);
  ::close(file);
  if (size <= 0) return {};
  bytes[size] = '\0';
  const auto in_bytes = [&bytes](const char* name) -> std::uint64_t {
    const char* const line = std::strstr(bytes, name);
    return line == nullptr ? 0 : 1024 * std::strtoull(line + std::strlen(name), nullptr, 10);
  };
  return {in_bytes("\nVmRSS:"), in_bytes("\nVmHWM:")};
}

void share_heaps([[maybe_unused]] unsigned count) noexcept {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::clamp(count, 1u, unsigned{INT_MAX})));
#endif
}

}  // namespace timeloom::os
