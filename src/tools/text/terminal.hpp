// The abilities of the terminal or file where text goes, and text that makes use of them.
//
// Plain values and functions; detect() reads the environment, so no other thread may change that
// meanwhile. They throw only std::bad_alloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace timeloom::tools {

enum class ColourMode { kAuto, kAlways, kNever };

enum class Ink { kPlain, kBold, kDim, kAccent, kWarning };

struct Terminal {
  std::size_t width = 80;
  bool colour = false;
  bool unicode = false;  // the locale is UTF-8
  std::size_t height = 25;

  // The terminal of standard output. The width is COLUMNS, else the terminal's (also of the
  // terminal behind a pager), else 80; the height is LINES, else the terminal's, else 25.
  static Terminal detect(ColourMode mode);

  std::string paint(std::string_view text, Ink ink) const;
  std::string_view ellipsis() const { return unicode ? "\u2026" : "..."; }
  std::string_view micro() const { return unicode ? "\u00b5s" : "us"; }
  std::string_view at_least() const { return unicode ? "\u2265 " : ">= "; }
  std::string_view dot() const { return unicode ? " \u00b7 " : ", "; }
};

}  // namespace timeloom::tools
