// The CPU time of the samples of a run, by region and by function of the libraries.
//
// Used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "run/line_rows.hpp"
#include "run/sample_rows.hpp"
#include "spool/reader.hpp"
#include "spool/samples/sample_reader.hpp"
#include "symbols/code_names.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

class SampleTable {
 public:
  // The samples of a process, whose definitions have these ids in the run.
  void add(const spool::SampleData& data, const spool::ProcessDefinitions& process,
           const ProcessIds& ids, symbols::CodeNames& names);

  bool empty() const noexcept { return sums_.empty() && lost_ == 0; }
  // The rows by time, the longest first.
  std::vector<run::SampleRow> rows(const Definitions& definitions) const;
  // The same by source line, in order of functions and lines. Samples in no region are left out,
  // and functions of which no line is known.
  std::vector<run::LineRow> lines(const Definitions& definitions) const;
  // Adds the properties of the run.
  void describe(std::map<std::string, std::string>& properties) const;

 private:
  struct Code {  // a function of a library
    std::string library, symbol;
    auto operator<=>(const Code&) const = default;
  };
  struct Key {
    std::uint32_t region;  // IdMap::kNone: none
    std::uint32_t code;
    auto operator<=>(const Key&) const = default;
  };
  struct Sum {
    std::uint64_t samples = 0, ns = 0;
  };
  class Resolver;

  std::uint32_t code_id(Code code);

  std::vector<Code> codes_;
  std::map<Code, std::uint32_t> code_ids_;
  std::map<Key, Sum> sums_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> lines_;  // by region and line
  std::set<std::uint64_t> periods_;
  std::uint64_t threads_ = 0, timers_ = 0, lost_ = 0, samples_ = 0;
};

}  // namespace timeloom::weave
