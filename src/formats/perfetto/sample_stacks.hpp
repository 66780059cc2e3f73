// The call paths of samples in a sequence of packets, as interned stacks. A frame is a function of
// a mapping: of a library, or of the source file of a function of the program.
//
// Belongs to the sequence of one location, used by one thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "exchange/protobuf.hpp"

namespace timeloom::perfetto {

class SampleStacks {
 public:
  explicit SampleStacks(const Definitions& definitions)
      : definitions_(definitions), known_frames_(definitions.regions.size()) {}

  // The number of a stack, its outermost region first. Adds the texts and frames that are new to
  // the InternedData `interned`. REQUIRES: the regions are defined, and there is one.
  std::uint64_t number_of(const std::vector<std::uint32_t>& path, exchange::ProtoMessage& interned);

 private:
  void intern_frame(std::uint32_t region, exchange::ProtoMessage& interned);
  std::uint64_t mapping_of(const Region& region, exchange::ProtoMessage& interned);

  const Definitions& definitions_;
  std::vector<bool> known_frames_;                 // by region
  std::map<std::string, std::uint64_t> mappings_;  // by their path
  std::map<std::vector<std::uint32_t>, std::uint64_t> stacks_;
};

// The defaults of samples, of a run with that many nanoseconds between two of them.
exchange::ProtoMessage sample_defaults(std::uint64_t period_ns);

}  // namespace timeloom::perfetto
