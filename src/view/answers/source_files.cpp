#include "view/answers/source_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.hpp"
#include "view/answers/json_strings.hpp"

namespace timeloom::view {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostSourceBytes = 1 << 20;
constexpr std::uint32_t kAround = 3;  // lines before and after the function
constexpr std::uint32_t kMostLines = 400;
constexpr std::uint32_t kUnknownEnd = 40;  // lines of a function whose end is not known
constexpr std::size_t kMostOfLine = 1000;

constexpr std::array<std::string_view, 19> kEndings = {
    ".py",  ".pyw", ".pyx", ".pxd", ".pxi", ".pyi", ".c",   ".h",  ".cc", ".cpp",
    ".cxx", ".hpp", ".hh",  ".cu",  ".f",   ".f90", ".F90", ".rs", ".jl"};

bool has_name_of_source(const fs::path& file) {
  const std::string name = file.filename().string();
  return !name.starts_with('.') && std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return name.ends_with(ending);
  });
}

SourceLines none(std::string reason) {
  SourceLines lines;
  lines.reason = std::move(reason);
  return lines;
}

// A line as text: without control characters, and of limited length.
std::string clean(std::string_view line) {
  std::string text(line.substr(0, kMostOfLine));
  std::erase_if(text, [](char c) { return c != '\t' && static_cast<unsigned char>(c) < ' '; });
  return text;
}

void take_lines(std::string_view text, const Region& region, SourceLines& to) {
  const std::uint32_t last =
      region.last_line >= region.first_line ? region.last_line : region.first_line + kUnknownEnd;
  to.first = region.first_line > kAround ? region.first_line - kAround : 1;
  const std::uint32_t end = std::min(last, UINT32_MAX - kAround) + kAround;
  std::uint32_t number = 1;
  for (std::size_t at = 0; at < text.size() && number <= end && to.lines.size() < kMostLines;
       ++number) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    if (number >= to.first) to.lines.push_back(clean(text.substr(at, stop - at)));
    at = stop + 1;
  }
}

}  // namespace

SourceFiles::SourceFiles(const fs::path& here, std::span<const std::string> others) {
  const auto add = [&](const fs::path& folder, bool by_end) {
    std::error_code failed;
    const fs::path path = fs::canonical(folder, failed);
    int error = 0;
    os::Directory directory = os::Directory::open_unlisted(path.string(), &error);
    if (failed || !directory.is_open()) {
      throw Error("cannot open the folder of sources " + folder.string() + ": " +
                  (failed ? failed.message() : std::generic_category().message(error)) +
                  " [TL504]");
    }
    roots_.push_back({path, std::move(directory), by_end});
  };
  for (const std::string& other : others) add(other, true);
  add(here, false);
}

// The path of a file below the folder after all links are resolved.
SourceFiles::Place SourceFiles::place_below(const Root& root, const fs::path& file) {
  std::error_code failed;
  const fs::path path = fs::canonical(file, failed);
  if (failed || !has_name_of_source(path)) return {};
  const auto [end, rest] =
      std::mismatch(root.path.begin(), root.path.end(), path.begin(), path.end());
  if (end != root.path.end() || rest == path.end()) return {};
  fs::path way;
  for (auto part = rest; part != path.end(); ++part) way /= *part;
  return {&root, way.string()};
}

SourceFiles::Place SourceFiles::place_of(const std::string& file) const {
  if (file.empty() || file.find('\0') != std::string::npos) return {};
  const fs::path path(file);
  for (const Root& root : roots_) {
    const Place place = place_below(root, path.is_absolute() ? path : root.path / path);
    if (place.root != nullptr) return place;
  }
  const fs::path relative = path.relative_path();
  for (const Root& root : roots_) {
    if (!root.by_end) continue;
    for (auto from = relative.begin(); from != relative.end(); ++from) {
      fs::path end;
      for (auto part = from; part != relative.end(); ++part) end /= *part;
      const Place place = place_below(root, root.path / end);
      if (place.root != nullptr) return place;
    }
  }
  return {};
}

SourceLines SourceFiles::lines_of(const Region& region,
                                  const std::optional<std::uint64_t>& start) const {
  if (region.file.empty() || region.first_line == 0)
    return none("The run does not record where this function is.");
  const Place place = place_of(region.file);
  if (place.root == nullptr) {
    return none("The file " + region.file +
                " is not below the working folder of the command; --source DIR names another.");
  }
  int error = 0;
  const os::EntryKind kind = place.root->directory.kind(place.way, &error);
  const os::File file = place.root->directory.open_file(place.way, &error);
  struct stat status {};
  if (kind != os::EntryKind::kFile || !file.is_open() || ::fstat(file.fd(), &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    return none("The file " + region.file + " cannot be read.");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMostSourceBytes)
    return none("The file " + region.file + " is larger than a megabyte.");
  std::string text(size, '\0');
  text.resize(file.read_at(0, std::as_writable_bytes(std::span(text)), &error));
  SourceLines lines;
  lines.file = (place.root->path / place.way).string();
  const auto written = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
  lines.changed = start && written > *start;
  take_lines(text, region, lines);
  return lines.lines.empty() ? none("The file " + region.file + " has no line " +
                                    std::to_string(region.first_line) + " any more.")
                             : lines;
}

namespace {

nlohmann::ordered_json times_json(const std::vector<LineTime>& times) {
  auto json = nlohmann::ordered_json::array();
  for (const LineTime& one : times) {
    json.push_back({{"line", one.line},
                    {"samples", one.samples},
                    {"seconds", static_cast<double>(one.ns) * 1e-9}});
  }
  return json;
}

// The ones of the lines that are shown.
nlohmann::ordered_json locks_json(const SourceLines& shown) {
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; };
  auto json = nlohmann::ordered_json::array();
  for (const LineLocks& one : shown.locks) {
    if (one.line < shown.first || one.line - shown.first >= shown.lines.size()) continue;
    json.push_back({{"line", one.line},
                    {"waits", one.waits},
                    {"waited", seconds(one.waited)},
                    {"held", seconds(one.held)},
                    {"blocked", seconds(one.blocked)}});
    if (one.at_least) json.back()["at_least"] = true;
  }
  return json;
}

}  // namespace

std::string source_json(const SourceLines& lines, const Region& region) {
  nlohmann::ordered_json json;
  if (lines.reason.empty()) {
    json["file"] = lines.file;
    json["first"] = lines.first;
    json["from"] = region.first_line;
    json["to"] = std::max(region.first_line, region.last_line);
    json["changed"] = lines.changed;
    json["lines"] = lines.lines;
    if (!lines.times.empty()) json["times"] = times_json(lines.times);
    if (auto locks = locks_json(lines); !locks.empty()) json["locks"] = std::move(locks);
  } else {
    json["reason"] = lines.reason;
  }
  return json_text(json);
}

}  // namespace timeloom::view
