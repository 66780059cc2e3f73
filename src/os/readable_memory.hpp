// Whether memory can be read, asked without reading it.
//
// For any thread, also in a handler of a signal; changes errno.
#pragma once

#include <cstddef>

namespace timeloom::os {

// Whether the first and the last of `size` bytes can be read: less than a page, so all of them can.
// The kernel looks, in one or two calls of rt_sigprocmask that change nothing.
bool is_readable(const void* memory, std::size_t size) noexcept;

}  // namespace timeloom::os
