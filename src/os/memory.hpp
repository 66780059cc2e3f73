// The memory of this process. Any thread; nothing throws.
#pragma once

#include <cstdint>

namespace timeloom::os {

// Bytes that lie in memory, and how many did at most; 0: not known.
struct ResidentMemory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};
ResidentMemory resident_memory() noexcept;

// Lets the threads share so many heaps. What a thread frees stays with its heap, so where threads
// come and go and each keeps something, every further heap costs as much again. To be called before
// threads are started. No effect where the C library has no such heaps.
void share_heaps(unsigned count) noexcept;

}  // namespace timeloom::os
