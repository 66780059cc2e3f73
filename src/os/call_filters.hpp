// Filters of system calls that a process sets itself (seccomp(2)): from then on any other call may
// be refused, or be its last.
#pragma once

#include <cstdint>

#include "os/file.hpp"

namespace timeloom::os {

// Watches the main thread of this process. One thread at a time; nothing throws.
class CallFilters {
 public:
  // From now on; costs a descriptor until the object ends.
  void watch() noexcept;
  // Whether there are more than when watch() was called; false where the kernel does not say.
  // Makes two system calls, fstat and read, which hardly a filter forbids; one more where there is
  // none. Asked once.
  bool added() noexcept;

 private:
  std::uint64_t count() const noexcept;

  File status_;
  std::uint64_t before_ = 0;
  bool added_ = false;
};

}  // namespace timeloom::os
