#include "tools/report/findings/lock_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "core/text/plain_text.hpp"
#include "os/read_file.hpp"
#include "tools/text/formatted.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kLargestSource = 4 << 20;
constexpr std::size_t kLongestFunction = 400;  // lines
constexpr std::array<std::string_view, 3> kLockNames = {"lock", "mutex", "sem"};

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool names_a_lock(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](unsigned char byte) {
    return static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
  });
  return std::ranges::any_of(
      kLockNames, [&](std::string_view name) { return low.find(name) != std::string::npos; });
}

bool takes_a_lock(std::string_view line) {
  line.remove_prefix(indent_of(line));
  line = line.substr(0, line.find_first_of("#\"'"));
  if (line.find(".acquire(") != std::string_view::npos) return true;
  return line.starts_with("with ") && names_a_lock(line);
}

bool is_blank(std::string_view line) {
  const std::size_t at = indent_of(line);
  return at == line.size() || line[at] == '#';
}

bool begins_function(std::string_view line) {
  const std::string_view text = line.substr(indent_of(line));
  return text.starts_with("@") || text.starts_with("def ") || text.starts_with("async def ");
}

}  // namespace

std::uint32_t lock_line(std::string_view source, std::uint32_t first_line) {
  const std::vector<std::string_view> lines = os::pieces_of(source, '\n');
  if (first_line == 0 || first_line > lines.size()) return 0;
  const std::size_t indent = indent_of(lines[first_line - 1]);
  if (!begins_function(lines[first_line - 1])) return 0;
  const std::size_t end = std::min<std::size_t>(lines.size(), first_line - 1 + kLongestFunction);
  bool inside = false;  // beyond the decorators and the line of the name
  for (std::size_t i = first_line - 1; i < end; ++i) {
    const std::string_view line = lines[i];
    if (is_blank(line)) continue;
    const bool deeper = indent_of(line) > indent;
    const bool ends_head = line.substr(indent_of(line)).starts_with(")");
    if (inside && !deeper && !ends_head) break;
    inside |= deeper;
    if (inside && takes_a_lock(line)) return static_cast<std::uint32_t>(i + 1);
  }
  return 0;
}

std::string lock_place(const Region& region, std::uint64_t start) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path = region.file;
  // The run names the file: one that is not a source of Python is not opened.
  if (region.first_line == 0 || !path.is_absolute() || path.extension() != ".py") return {};
  if (!fs::is_regular_file(path, error)) return {};
  const auto changed = std::chrono::file_clock::to_sys(fs::last_write_time(path, error));
  const std::chrono::nanoseconds since_1970 = changed.time_since_epoch();
  if (error || since_1970.count() < 0) return {};
  if (static_cast<std::uint64_t>(since_1970.count()) > start) return {};
  int failed = 0;
  const std::string source = os::read_file(region.file, kLargestSource, &failed);
  const std::uint32_t line = failed != 0 ? 0 : lock_line(source, region.first_line);
  return line == 0 ? std::string() : formatted("{}:{}", printable(path.filename().string()), line);
}

}  // namespace timeloom::tools
