// The threads of this process as the kernel knows them, whether or not a library made them.
//
// Any thread; functions throw nothing but std::bad_alloc.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace timeloom::os {

// The kernel's ids; empty: the system does not show them. Uses a file descriptor meanwhile.
std::vector<std::uint64_t> running_threads();
// The clock of the CPU time of a thread.
clockid_t cpu_clock_of_thread(std::uint64_t thread) noexcept;
// User and system time of a thread in nanoseconds; none: it has ended. Uses no descriptor.
std::optional<std::uint64_t> cpu_ns_of_thread(std::uint64_t thread) noexcept;
// The name that the kernel has for a thread, at most 15 bytes; empty: unknown. Uses a descriptor.
std::string name_of_thread(std::uint64_t thread);

}  // namespace timeloom::os
