#include "os/barrier.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace timeloom::os {
namespace {

// Of <linux/membarrier.h>, which older systems have without these two.
constexpr int kPrivateExpedited = 1 << 3;
constexpr int kRegisterPrivateExpedited = 1 << 4;

bool membarrier(int command) noexcept {
  const int error_number = errno;
  const bool done = ::syscall(SYS_membarrier, command, 0, 0) == 0;
  errno = error_number;
  return done;
}

}  // namespace

bool offer_barriers() noexcept { return membarrier(kRegisterPrivateExpedited); }

bool barrier_on_all_threads() noexcept { return membarrier(kPrivateExpedited); }

}  // namespace timeloom::os
