// The property of a forked child of a Python program that tells calls of the handlers that Python
// has for forks, such as threading._after_fork, from those of the program. Plain functions.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace timeloom {

// A text of ForkHandlers; a later one holds. All calls of a child without one are its own.
inline constexpr char kForkHandlers[] = "timeloom::fork_handlers";

// What was recorded from here on is the program's own.
struct ForkHandlers {
  std::uint64_t ticks = 0;
  std::uint64_t visits = 0;  // of a profile

  std::string text() const { return std::to_string(ticks) + " " + std::to_string(visits); }
  static ForkHandlers of(const std::string& text) {
    char* rest = nullptr;
    ForkHandlers result;
    result.ticks = std::strtoull(text.c_str(), &rest, 10);
    result.visits = std::strtoull(rest, nullptr, 10);
    return result;
  }
};

}  // namespace timeloom
