// The source lines of functions, for the page, from source files below some folders only.
//
// An archive can name any file that its reader owns. So a file is read only if, with all links
// resolved, it lies below one of the folders, is a regular file of at most a megabyte, and has a
// name of source code. The folders are opened once; between the check and the reading no link is
// followed.
//
// Any thread may use a const object. Throws Error when a folder cannot be opened.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "os/directory.hpp"
#include "view/answers/source_locks.hpp"

namespace timeloom::view {

// The CPU time of the samples on a line.
struct LineTime {
  std::uint32_t line = 0;  // 0: not known
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;
};

// Some lines of a file, or the reason why they are missing.
struct SourceLines {
  std::string file;         // where they were found
  std::uint32_t first = 0;  // the number of the first of `lines`
  std::vector<std::string> lines;
  bool changed = false;          // the file was changed after the run started
  std::vector<LineTime> times;   // in order of lines; empty: the function has no samples
  std::vector<LineLocks> locks;  // of the whole file, in order of lines
  std::string reason;            // empty: there are lines
};

class SourceFiles {
 public:
  // `here`: the working folder. In each of `others`, a file is also searched for by the end of its
  // path, since programs often run in one place and are examined in another.
  SourceFiles(const std::filesystem::path& here, std::span<const std::string> others);

  // The lines of a region and some around them. `start`: the start of the run in nanoseconds since
  // 1970.
  SourceLines lines_of(const Region& region, const std::optional<std::uint64_t>& start) const;

 private:
  struct Root {
    std::filesystem::path path;  // with all links resolved
    os::Directory directory;
    bool by_end;  // also by the end of a path
  };
  struct Place {
    const Root* root = nullptr;
    std::string way;  // below it
  };

  static Place place_below(const Root& root, const std::filesystem::path& file);
  Place place_of(const std::string& file) const;

  std::vector<Root> roots_;
};

// The same as JSON: docs/formats/view-http.md.
std::string source_json(const SourceLines& lines, const Region& region);

}  // namespace timeloom::view
