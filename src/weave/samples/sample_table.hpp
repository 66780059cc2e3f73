// The samples of a run: their CPU time by region and by function of the libraries, and each with
// its thread and time.
//
// Used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "formats/sample_file/sample_file_writer.hpp"
#include "run/sample_sums.hpp"
#include "spool/reader.hpp"
#include "spool/samples/sample_reader.hpp"
#include "symbols/code_names.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

class SampleTable {
 public:
  // The places of a process's samples in the run.
  struct Places {
    std::function<LocationId(std::uint32_t)> location_of;     // by the thread's number
    std::function<std::uint64_t(std::uint64_t)> since_begin;  // in ns, by ticks
    bool with_stacks = false;                                 // whether the file has them
  };
  // The samples of a process, whose definitions have these ids in the run.
  void add(const spool::SampleData& data, const spool::ProcessDefinitions& process,
           const ProcessIds& ids, symbols::CodeNames& names, const Places& places);

  bool empty() const noexcept { return sums_.empty() && lost_ == 0; }
  // The rows of samples.csv, and of lines.csv.
  std::vector<run::SampleRow> rows(const Definitions& definitions) const;
  std::vector<run::LineRow> lines(const Definitions& definitions) const;
  // The bytes of samples.timeloom. REQUIRES: called once.
  std::string take_file(const Definitions& definitions);
  // Adds the properties of the run.
  void describe(std::map<std::string, std::string>& properties) const;

 private:
  struct Code {  // a function of a library
    std::string library, symbol;
    auto operator<=>(const Code&) const = default;
  };
  class Resolver;
  class StackNumbers;

  std::uint32_t code_id(Code code);

  std::vector<sample_file::Code> codes_;
  std::map<Code, std::uint32_t> code_ids_;
  run::SampleSums sums_;  // by region of the run, and by code
  sample_file::Writer file_;
  std::set<std::uint32_t> regions_;  // to which the file refers
  std::set<std::string> unfound_;    // libraries in which a function was not found
  std::string refused_names_;        // a file with names of generated code, and why it is not read
  std::set<std::uint64_t> periods_;
  std::uint64_t threads_ = 0, timers_ = 0, user_events_ = 0, unsampled_ns_ = 0, lost_ = 0,
                samples_ = 0, cut_ = 0;
  int failure_ = 0;
};

}  // namespace timeloom::weave
