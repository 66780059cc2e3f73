// Estimates the size of the trace of a run if it were packed, from a part of its events.
//
// A plain function, used by one thread. Throws nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace timeloom::weave {

struct PackingEstimate {
  std::uint64_t trace = 0;   // bytes of the OTF2 trace
  std::uint64_t packed = 0;  // estimated bytes of the packed trace
  std::uint64_t events = 0;  // number of events that were packed to know it
  bool is_sure = true;       // false: timeloom pack may find a record that it cannot pack
};

// nullopt: the trace is packed, or not one that timeloom pack takes, or there is none. Up to
// `most_events` of the first locations are packed, in memory.
std::optional<PackingEstimate> packing_estimate(const std::filesystem::path& run,
                                                std::uint64_t most_events = 1 << 19);

}  // namespace timeloom::weave
