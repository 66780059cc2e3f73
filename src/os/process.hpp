// This process as the system knows it. Any thread; nothing throws but std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace timeloom::os {

std::string hostname();
std::string executable();                 // its path; empty: unknown
std::vector<std::string> command_line();  // with the name that it was started by; empty: unknown
std::string thread_name();                // of the calling thread
std::uint64_t parent_process_id() noexcept;

}  // namespace timeloom::os
