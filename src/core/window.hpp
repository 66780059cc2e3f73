// The part of a program that is recorded: --from, --until and --after.
//
// Plain values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom {

// The start or end of a window: a time since the start of the program, or the enter or leave
// of a region.
struct WindowPoint {
  enum class Kind : std::uint8_t { kNone, kTime, kRegion };
  Kind kind = Kind::kNone;
  std::uint64_t ns = 0;
  std::string region;
};

struct Window {
  WindowPoint from;
  WindowPoint until;
  std::uint64_t after = 0;  // calls of the region `from` before the first window
  bool any() const noexcept {
    return from.kind != WindowPoint::Kind::kNone || until.kind != WindowPoint::Kind::kNone;
  }
};

// Parses "2.5s", "500ms", "module.function"; empty: none. Throws an Error whose message
// starts with `origin`.
WindowPoint parse_window_point(std::string_view text, const std::string& origin);

// The window in words: "from __main__.train after 2 calls until 5s".
std::string describe(const Window& window);

}  // namespace timeloom
