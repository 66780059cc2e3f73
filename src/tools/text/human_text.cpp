#include "tools/text/human_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "tools/text/formatted.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kLongestCharacter = 16;  // bytes of one column, combining marks included

// Combining marks take no column, East Asian characters and emoji take two.
std::size_t columns_of(std::uint32_t character) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 4> kNone = {
      {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}, {0x20d0, 0x20ff}}};
  constexpr std::array<Range, 9> kTwo = {{{0x1100, 0x115f},
                                          {0x2e80, 0x303e},
                                          {0x3041, 0xa4cf},
                                          {0xac00, 0xd7a3},
                                          {0xf900, 0xfaff},
                                          {0xfe30, 0xfe6f},
                                          {0xff00, 0xff60},
                                          {0x1f300, 0x1faff},
                                          {0x20000, 0x3fffd}}};
  for (const Range& range : kNone)
    if (character >= range.first && character <= range.last) return 0;
  for (const Range& range : kTwo)
    if (character >= range.first && character <= range.last) return 2;
  return 1;
}

// The end of a text that takes at most `width` columns.
std::string_view last_columns(std::string_view text, std::size_t width) {
  // No character is longer: the part that is cut off here would not fit anyway.
  text.remove_prefix(text.size() - std::min(text.size(), kLongestCharacter * width));
  while (!text.empty() && (is_continuation(text.front()) || columns(text) > width)) {
    text.remove_prefix(1);
  }
  return text;
}

bool separates(char byte) { return byte == '.' || byte == ':'; }

std::string strftime_of(std::uint64_t realtime, const char* format,
                        std::tm* (*split)(const std::time_t*, std::tm*)) {
  const auto seconds = static_cast<std::time_t>(realtime / 1'000'000'000);
  std::tm parts{};
  std::array<char, 64> text{};
  if (split(&seconds, &parts) == nullptr) return "unknown";
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

std::string duration(double seconds, const Terminal& terminal, std::string_view gap) {
  if (seconds == 0) return formatted("0{}s", gap);
  if (seconds < 0) return "-" + duration(-seconds, terminal, gap);
  if (seconds < 999.5e-9) return formatted("{}{}ns", three_digits(seconds * 1e9), gap);
  if (seconds < 999.5e-6)
    return formatted("{}{}{}", three_digits(seconds * 1e6), gap, terminal.micro());
  if (seconds < 999.5e-3) return formatted("{}{}ms", three_digits(seconds * 1e3), gap);
  return formatted("{}{}s", three_digits(seconds), gap);
}

std::string short_count(std::int64_t number) {
  if (number < 0) return "-" + short_count(-std::max(number, -INT64_MAX));
  if (number < 1'000'000) return count(static_cast<std::uint64_t>(number));
  const auto value = static_cast<double>(number);
  if (value < 999.5e6) return three_digits(value / 1e6) + "M";
  if (value < 999.5e9) return three_digits(value / 1e9) + "G";
  return three_digits(value / 1e12) + "T";
}

std::string visits_text(std::int64_t visits, bool at_least, const Terminal& terminal) {
  return (at_least ? std::string(terminal.at_least()) : std::string()) + short_count(visits);
}

std::string percent(double share) {
  const double value = share * 100;
  return value < 99.95 ? formatted("{:.1f}%", value) : formatted("{:.0f}%", value);
}

std::string threads_and_tasks(std::uint64_t threads, std::uint64_t tasks, std::uint64_t lanes) {
  std::string text = plural(threads, "thread");
  if (tasks > 0) text += " and " + plural(tasks, "task");
  if (lanes > 0) text += (tasks > 0 ? " on " : " and ") + plural(lanes, "lane");
  return text;
}

std::string local_time(std::uint64_t realtime) {
  return strftime_of(realtime, "%Y-%m-%d %H:%M:%S", localtime_r);
}

std::string iso_time(std::uint64_t realtime) {
  return formatted("{}.{:03}Z", strftime_of(realtime, "%Y-%m-%dT%H:%M:%S", gmtime_r),
                   realtime / 1'000'000 % 1000);
}

std::size_t columns(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_continuation(text[i])) width += columns_of(character_at(text, i));
  }
  return width;
}

std::string shorten_left(std::string_view text, std::size_t width, const Terminal& terminal) {
  if (columns(text) <= width) return std::string(text);
  const std::size_t available = width - std::min(width, columns(terminal.ellipsis()));
  std::string_view end = last_columns(text, available);
  // The start of the next part, unless that would leave less than half.
  for (std::size_t i = text.size() - end.size(); i > 0 && i < text.size(); ++i) {
    if (columns(text.substr(i)) * 2 < available) break;
    if (separates(text[i - 1])) {
      end = text.substr(i);
      break;
    }
  }
  return std::string(terminal.ellipsis()) + std::string(end);
}

std::string shorten_path(std::string_view path, std::size_t width, const Terminal& terminal) {
  while (columns(path) > width) {
    const std::size_t slash = path.find('/', path.starts_with('/') ? 1 : 0);
    if (slash == std::string_view::npos) {
      const std::size_t available = width - std::min(width, columns(terminal.ellipsis()));
      return std::string(terminal.ellipsis()) + std::string(last_columns(path, available));
    }
    path.remove_prefix(slash + 1);
  }
  return std::string(path);
}

std::string shorten_file(std::string_view path, std::size_t width, const Terminal& terminal) {
  if (columns(path) <= width) return std::string(path);
  const std::size_t available = width - std::min(width, columns(terminal.ellipsis()));
  std::size_t from = path.find('/', 1);
  while (from != std::string_view::npos && columns(path.substr(from)) > available) {
    from = path.find('/', from + 1);
  }
  if (from != std::string_view::npos) {
    return std::string(terminal.ellipsis()) + std::string(path.substr(from));
  }
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (columns(name) <= width) return std::string(name);
  const std::size_t end = available / 3;
  return shorten_right(name, width - end, terminal) + std::string(last_columns(name, end));
}

std::string shorten_right(std::string_view text, std::size_t width, const Terminal& terminal) {
  if (columns(text) <= width) return std::string(text);
  const std::size_t available = width - std::min(width, columns(terminal.ellipsis()));
  std::size_t end = std::min(text.size(), kLongestCharacter * width);
  while (end > 0 && ((end < text.size() && is_continuation(text[end])) ||
                     columns(text.substr(0, end)) > available)) {
    --end;
  }
  return std::string(text.substr(0, end)) + std::string(terminal.ellipsis());
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = columns(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = columns(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

}  // namespace timeloom::tools
