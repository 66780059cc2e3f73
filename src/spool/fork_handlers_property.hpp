// The property of a forked child of a Python program that separates the calls of Python's own fork
// handlers, such as threading._after_fork, from the program's calls. Plain functions.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace timeloom {

// Holds a text of ForkHandlers; the last one counts. Without it all calls of a child are the
// program's.
inline constexpr char kForkHandlers[] = "timeloom::fork_handlers";

// The point in the records from which on they are the program's own.
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
