// The functions of libraries in which a run used its CPU time, from its samples, below the
// functions of the program.
//
// Plain values made from a run; used by one thread. read_native_times() throws Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "run/sample_rows.hpp"

namespace timeloom::tools {

// A function of a library, or a whole library whose functions are of interest to its authors only:
// the interpreter, and Timeloom itself.
struct NativePart {
  std::string
      library;  // for people: "libopenblas", "interpreter"; empty: code that lies in no file
  std::string function;  // empty: no name, or the part is the whole
  bool whole = false;
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;
};

// "libopenblas: dgemm_kernel"
std::string part_name(const NativePart& part);

// The parts of the own time of one function, or of several together, by their time.
struct NativeShares {
  std::vector<NativePart> parts;
  std::uint64_t samples = 0;
  std::uint64_t ns = 0;
};

class NativeTimes {
 public:
  NativeTimes() = default;
  NativeTimes(std::vector<run::SampleRow> rows, const Definitions& definitions);

  bool empty() const noexcept { return rows_.empty(); }
  const std::vector<run::SampleRow>& rows() const noexcept { return rows_; }
  // The parts of these regions, with the interpreter and Timeloom as one part each.
  NativeShares shares(const std::vector<RegionId>& regions) const;

 private:
  std::vector<run::SampleRow> rows_;
  std::map<RegionId, std::vector<std::size_t>> rows_of_;
};

// Empty: the run has no samples.
NativeTimes read_native_times(const std::filesystem::path& run, const Definitions& definitions);

// The name of a library without its version and checksum: "libc" for "libc.so.6".
std::string library_label(const std::string& library);
// Whether the samples of the library are shown as one part below a function.
bool is_shown_whole(const std::string& label) noexcept;

}  // namespace timeloom::tools
