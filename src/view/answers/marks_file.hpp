// The marks and notes that somebody has set in a run: a small file beside the archive, or in the
// cache directory of the user where that place cannot be written.
//
// Any thread may use a const object. Nothing is thrown but what memory can.
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

  // A JSON array of {"time": ticks, "text": "..."}; empty where there is no file, or none of ours.
  std::string read() const;
  // Replaces the file by the marks of {"version": 1, "marks": [...]}; where they are kept now.
  // Empty: no place can be written. Nothing: these are no marks.
  std::optional<std::string> keep(std::string_view json) const;

 private:
  std::filesystem::path beside_;
  std::filesystem::path in_cache_;  // empty: there is no such directory
  mutable std::mutex mutex_;
};

}  // namespace timeloom::view
