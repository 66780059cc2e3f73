#include "os/readable_memory.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace timeloom::os {
namespace {

constexpr std::uintptr_t kWord = 8;  // the size of the kernel's set of signals

// The kernel copies the set before it refuses the operation, which does not exist.
bool is_readable_word(std::uintptr_t address) noexcept {
  constexpr int kNoOperation = -1;
  return ::syscall(SYS_rt_sigprocmask, kNoOperation, address, nullptr, kWord) != 0 &&
         errno != EFAULT;
}

}  // namespace

bool is_readable(const void* memory, std::size_t size) noexcept {
  constexpr std::uintptr_t kLeastPage = 4096;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory) / kWord * kWord;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(memory) + size - 1) / kWord * kWord;
  if (memory == nullptr || last < first || !is_readable_word(first)) return false;
  return first / kLeastPage == last / kLeastPage || is_readable_word(last);
}

}  // namespace timeloom::os
