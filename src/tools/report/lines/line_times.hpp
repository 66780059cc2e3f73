// The source lines of the program on which a run used its CPU time, from its samples.
//
// Plain values made from a run; used by one thread, a const object by any. read_line_times() throws
// Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/definitions.hpp"
#include "run/line_rows.hpp"
#include "view/answers/source_files.hpp"

namespace timeloom::tools {

class LineTimes {
 public:
  LineTimes() = default;
  explicit LineTimes(std::vector<run::LineRow> rows);

  bool empty() const noexcept { return rows_.empty(); }
  // In order of files, functions and lines.
  const std::vector<run::LineRow>& rows() const noexcept { return rows_; }
  // Of the own time of one function, or of several of one file together, in order of lines; the
  // samples whose line is not known are at line 0.
  std::vector<view::LineTime> of(const std::vector<const Region*>& regions) const;

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;
  std::vector<run::LineRow> rows_;
  std::map<Key, std::vector<std::size_t>> rows_of_;
};

// Empty: the run has no samples, or none with lines.
LineTimes read_line_times(const std::filesystem::path& run);

}  // namespace timeloom::tools
