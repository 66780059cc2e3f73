// Finds files that this process may execute. Any thread, while no other one changes the
// environment.
#pragma once

#include <cstdint>
#include <string>

namespace timeloom {

// Whether the path leads to a regular file, perhaps by a link, that this process may execute.
// Allocates nothing.
bool is_executable(const char* path) noexcept;

// The directories of PATH that are searched.
enum class OnPath : std::uint8_t {
  kAny,
  kAbsolute,  // that begin with a slash: others lie below the current directory, with any files
};

// The first executable file of this name in the directories of PATH; empty: there is none. A name
// with a slash is a path and is not searched for. Throws nothing but std::bad_alloc.
std::string find_executable(const std::string& name, OnPath directories = OnPath::kAny);

}  // namespace timeloom
