#include "os/heap.hpp"

#include <algorithm>
#include <climits>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace timeloom::os {

void share_heaps([[maybe_unused]] unsigned count) noexcept {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::clamp(count, 1u, unsigned{INT_MAX})));
#endif
}

}  // namespace timeloom::os
