// Files that can be executed. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace timeloom {

// Whether a regular file is there that this process may execute; a link may lead to it. Allocates
// nothing.
bool is_executable(const char* path) noexcept;

enum class OnPath : std::uint8_t {
  kAny,
  kAbsolute,  // not in the current directory or below it, where anything may lie
};

// The first file of this name in the directories of PATH that can be executed; empty: there is
// none. A name with a slash is a path, which is not looked for. Throws nothing but std::bad_alloc.
std::string find_executable(const std::string& name, OnPath directories = OnPath::kAny);

}  // namespace timeloom
