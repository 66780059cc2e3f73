// The member of Timeloom's CUBE files that contains the checksums of all others. Pure functions,
// for any thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace timeloom::cube {

inline constexpr char kCheckName[] = "timeloom.check";

// The line of a member. `check`: the CRC-32 of its bytes.
inline std::string check_line(std::uint64_t check, std::uint64_t size, const std::string& name) {
  char text[64];
  std::snprintf(text, sizeof text, "%08llx %llu ", static_cast<unsigned long long>(check),
                static_cast<unsigned long long>(size));
  return text + name + "\n";
}

}  // namespace timeloom::cube
