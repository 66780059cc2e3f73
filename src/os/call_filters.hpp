// Filters of system calls that a process installs for itself (seccomp(2)): from then on a system
// call that they do not allow fails, or ends the process.
#pragma once

#include <cstdint>

#include "os/file.hpp"

namespace timeloom::os {

// Watches the main thread of this process. One thread at a time; nothing throws.
class CallFilters {
 public:
  // Starts to watch; uses one file descriptor until the object is destroyed.
  void watch() noexcept;
  // Whether there are more filters than when watch() was called; false where the kernel does not
  // count them. Makes two system calls, fstat and read, which hardly any filter forbids; one more
  // where no filter was added.
  bool added() noexcept;

 private:
  std::uint64_t count() const noexcept;
  void read_again() noexcept;

  File status_;
  std::uint64_t before_ = 0;
  bool added_ = false;
};

}  // namespace timeloom::os
