// The marks and notes that users have set in a run: a small file beside the archive or, where that
// directory is not writable, in the user's cache directory.
//
// Any thread may use a const object. Throws only std::bad_alloc.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace timeloom::view {

class MarksFile {
 public:
  explicit MarksFile(const std::filesystem::path& anchor);

  // A JSON array of {"time": ticks, "text": "..."}; empty if the file is missing or is not one of
  // Timeloom's.
  std::string read() const;
  // Replaces the file by the marks of {"version": 1, "marks": [...]}. Returns the path. An empty
  // path: no place is writable. No value: the text does not contain marks.
  std::optional<std::string> keep(std::string_view json) const;

 private:
  std::filesystem::path beside_;
  std::filesystem::path in_cache_;  // empty: there is no such directory
  mutable std::mutex mutex_;
};

}  // namespace timeloom::view
