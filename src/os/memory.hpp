// The memory of this process. Any thread; nothing throws.
#pragma once

#include <cstdint>

namespace timeloom::os {

// The resident bytes of the process, now and at the peak; 0: not known. Without
// the heap.
struct ResidentMemory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};
ResidentMemory resident_memory() noexcept;

// The least limit that a control group (version 2) of this process has for its memory, in bytes; 0:
// none, or not known. A limit of several processes counts as the limit of each.
std::uint64_t memory_limit() noexcept;

// Lets the threads share `count` heaps (arenas of malloc). Memory that a thread frees stays with
// its heap, so where many threads come and go and each keeps something, every further heap costs as
// much memory again. Call it before threads are started. No effect where the C library has no such
// heaps.
void share_heaps(unsigned count) noexcept;

}  // namespace timeloom::os
