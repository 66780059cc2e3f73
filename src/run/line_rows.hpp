// The file lines.csv of a run: the CPU time of samples, by source line of the functions of the
// program. One line a pair, with a line of headings; docs/sampling.md describes it.
//
// Plain values and functions, for any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace timeloom::run {

struct LineRow {
  std::string function;  // of the program, innermost and recorded
  std::string file;
  std::uint32_t first_line = 0;   // of the function
  std::uint32_t source_line = 0;  // 0: not known
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;  // of CPU time
};

std::string line_text(const std::vector<LineRow>& rows);
// The opposite. Throws Error for text that this version has not written.
std::vector<LineRow> parse_lines(const std::string& text);
// Of a run; empty: it has none. Throws Error.
std::vector<LineRow> read_line_rows(const std::filesystem::path& run);

}  // namespace timeloom::run
