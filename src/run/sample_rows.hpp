// The file samples.csv of a run: the CPU time of samples, by function of the program and by
// function of the libraries below it. A line for each such pair, below a line of headings;
// docs/sampling.md describes it.
//
// Plain values and functions, for any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace timeloom::run {

struct SampleRow {
  std::string function;  // the innermost recorded function of the program; empty: none was open
  std::string file;
  std::uint32_t line = 0;
  std::string library;  // file name; empty: code that lies in no file
  std::string symbol;   // function of the library; empty: it has no name there
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;  // of CPU time
};

std::string sample_text(const std::vector<SampleRow>& rows);
// The rows in such a text. Throws Error for a text that this version does not write.
std::vector<SampleRow> parse_samples(const std::string& text);
// The rows of a run; empty: it has no samples.csv. Throws Error.
std::vector<SampleRow> read_sample_rows(const std::filesystem::path& run);

}  // namespace timeloom::run
