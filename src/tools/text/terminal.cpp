#include "tools/text/terminal.hpp"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace timeloom::tools {

namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 500;
constexpr std::size_t kLowest = 10;
constexpr std::size_t kHighest = 1000;

// The value of a variable; nullptr also when it is empty.
const char* terminal_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

struct Extent {
  const char* variable;
  unsigned short winsize::*of_terminal;
  std::size_t least;
  std::size_t most;
  std::size_t otherwise;
};
constexpr Extent kWidth = {"COLUMNS", &winsize::ws_col, kNarrowest, kWidest, 80};
constexpr Extent kHeight = {"LINES", &winsize::ws_row, kLowest, kHighest, 25};

std::size_t detect(const Extent& extent) {
  if (const char* wanted = terminal_variable(extent.variable)) {
    const long size = std::strtol(wanted, nullptr, 10);
    if (size > 0) {
      return std::clamp(static_cast<std::size_t>(size), extent.least, extent.most);
    }
  }
  // Standard error is still the terminal when the output goes through a pager.
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.*extent.of_terminal > 0) {
      return std::clamp<std::size_t>(size.*extent.of_terminal, extent.least, extent.most);
    }
  }
  return extent.otherwise;
}

bool detect_colour(ColourMode mode) {
  if (mode != ColourMode::kAuto) return mode == ColourMode::kAlways;
  const char* terminal = terminal_variable("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return isatty(STDOUT_FILENO) == 1 && !dumb && terminal_variable("NO_COLOR") == nullptr;
}

// As setlocale() decides, which would need the locale to be installed.
bool detect_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* locale = terminal_variable(name)) {
      return strcasestr(locale, "utf-8") != nullptr || strcasestr(locale, "utf8") != nullptr;
    }
  }
  return false;
}

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::kBold: return "\033[1m";
    case Ink::kDim: return "\033[2m";
    case Ink::kAccent: return "\033[36m";
    case Ink::kWarning: return "\033[33m";
    case Ink::kPlain: break;
  }
  return "";
}

}  // namespace

Terminal Terminal::detect(ColourMode mode) {
  return {tools::detect(kWidth), detect_colour(mode), detect_unicode(), tools::detect(kHeight)};
}

std::string Terminal::paint(std::string_view text, Ink ink) const {
  const std::string_view code = colour && !text.empty() ? code_of(ink) : "";
  std::string painted(code);
  painted += text;
  if (!code.empty()) painted += "\033[0m";
  return painted;
}

}  // namespace timeloom::tools
