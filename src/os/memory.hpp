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

}  // namespace timeloom::os
