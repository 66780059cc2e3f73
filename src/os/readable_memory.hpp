// Whether memory can be read, asked without reading it.
//
// For any thread, also in a handler of a signal; changes errno.
#pragma once

#include <cstddef>

namespace timeloom::os {

// Whether `size` bytes can be read. The kernel looks at the first and the last one, in one or two
// calls of rt_sigprocmask that change nothing. REQUIRES: `size` is from 1 to 4,096, so that no
// other page lies between these two.
bool is_readable(const void* memory, std::size_t size) noexcept;

}  // namespace timeloom::os
