// The file lines.csv of a run: the CPU time of samples, a line for each function of the program and
// source line in it, below a line of headings; docs/sampling.md describes it.
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
// The rows in such a text. Throws Error for a text that this version does not write.
std::vector<LineRow> parse_lines(const std::string& text);
// The rows of a run; empty: it has no lines.csv. Throws Error.
std::vector<LineRow> read_line_rows(const std::filesystem::path& run);

}  // namespace timeloom::run
