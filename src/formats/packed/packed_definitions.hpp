// The definitions of a run as bytes. Plain functions, for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "formats/packed/packing_names.hpp"

namespace timeloom::packed {

// The definitions as bytes, without the properties (see RunEnd) and the teams, which sources find
// in the events.
Bytes bytes_of(const Definitions& definitions);
// The opposite. False: the bytes are damaged, or refer to ids that they do not define.
bool read_definitions(ByteSpan bytes, Definitions& definitions);

Bytes bytes_of(const OriginalFiles& files);
bool read_original(ByteSpan bytes, OriginalFiles& files);

// The facts that are known at the end of a run.
struct RunEnd {
  ClockProperties clock;
  std::map<std::string, std::string> properties;
  struct OfLocation {
    std::uint64_t events = 0;  // as a trace counts them
    std::uint64_t packed = 0;  // as they are in blocks
    std::uint64_t blocks = 0;
  };
  std::vector<OfLocation> locations;  // in the order of the definitions
};
Bytes bytes_of(const RunEnd& end);
bool read_end(ByteSpan bytes, RunEnd& end);

}  // namespace timeloom::packed
