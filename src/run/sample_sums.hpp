// Samples of CPU time, added up as the files samples.csv and lines.csv have them: by function of
// the program with function of a library, and by source line.
//
// Plain values, used by one thread; they throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/line_rows.hpp"
#include "run/sample_rows.hpp"

namespace timeloom::run {

struct SampledFunction {  // of the program
  std::string name;
  std::string file;
  std::uint32_t line = 0;  // its first one
};

struct SampledCode {  // a function of a library
  std::string library;
  std::string symbol;
};

class SampleSums {
 public:
  static constexpr std::uint32_t kNoFunction = UINT32_MAX;

  // The numbers of function and code are the caller's. `line`: of the source; 0: not known.
  void add(std::uint32_t function, std::uint32_t code, std::uint32_t line, std::uint64_t ns);

  bool empty() const noexcept { return codes_.empty(); }
  // What a number means; nothing: it has no meaning.
  using FunctionOf = std::function<std::optional<SampledFunction>(std::uint32_t)>;
  using CodeOf = std::function<SampledCode(std::uint32_t)>;
  // The rows of samples.csv: by time, the longest first.
  std::vector<SampleRow> rows(const FunctionOf& function_of, const CodeOf& code_of) const;
  // The rows of lines.csv: in order of files, functions and lines. Samples in no function are left
  // out, and functions of which no line is known.
  std::vector<LineRow> lines(const FunctionOf& function_of) const;

 private:
  struct Sum {
    std::uint64_t samples = 0, ns = 0;
    void add(const Sum& other) {
      samples += other.samples;
      ns += other.ns;
    }
  };
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Pair, Sum> codes_;  // by function and code
  std::map<Pair, Sum> lines_;  // by function and line
};

}  // namespace timeloom::run
