// The kernels and fences that are open on a thread. Kokkos keeps the number of each for its end.
// Numbers come from programs, and also from what passes its calls on, so one that was not given out
// here, or has ended, finds nothing.
//
// Each thread has its own; a number of another thread finds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/native/wrapper_interface.hpp"

namespace timeloom::kokkos {

// The number of a kernel that is not recorded.
inline constexpr std::uint64_t kNoKernel = 0;

class OpenKernels {
 public:
  // The most that are kept: exceptions may leave kernels without an end. Beyond it, the older half
  // is forgotten.
  static constexpr std::size_t kMost = 1024;

  // Makes room for a kernel. Throws std::bad_alloc.
  void reserve();
  // Returns the number of the kernel, not kNoKernel. REQUIRES: reserve() since the last call.
  std::uint64_t begin(record::WrappedFunction& kernel) noexcept;
  // The kernel of the number, which has ended with all inside it. nullptr: none is open.
  record::WrappedFunction* end(std::uint64_t number) noexcept;

 private:
  struct Kernel {
    std::uint64_t number;
    record::WrappedFunction* function;
  };
  std::vector<Kernel> open_;  // the innermost one last
};

}  // namespace timeloom::kokkos
