// Makes the file samples.timeloom. See sample_file.hpp.
//
// Used by one thread. Throws std::bad_alloc, and Error if zstd fails for lack of memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/sample_file/sample_file.hpp"
#include "packing/section_file.hpp"

namespace timeloom::sample_file {

class Writer {
 public:
  // The number of a stack. `outer`: the number of the frames around its innermost one; kNone: there
  // are none. Returns `outer` when the file has too many stacks.
  std::uint32_t stack(std::uint32_t outer, std::uint32_t region, bool unrecorded);
  // Samples of one location come in order of time. Samples of several locations may alternate.
  void add(LocationId location, const Sample& sample);

  // The bytes of the file. `functions`, `codes`: to which the samples and stacks refer. REQUIRES:
  // called once.
  std::string take(const std::vector<Function>& functions, const std::vector<Code>& codes);

 private:
  struct Columns {
    packing::Bytes times, weights, regions, codes, lines, stacks;
    Sample before;
    std::uint32_t count = 0;
  };

  void finish_section(LocationId location, Columns& columns);
  void append(const packing::SectionHead& head, const packing::Bytes& body);
  packing::Bytes tables(const std::vector<Function>& functions, const std::vector<Code>& codes);

  std::map<Frame, std::uint32_t> numbers_;
  std::vector<Frame> frames_;
  std::map<LocationId, Columns> open_;
  std::string sections_;
  std::uint32_t count_ = 0;  // of sections
  packing::Compressor compressor_;
};

}  // namespace timeloom::sample_file
