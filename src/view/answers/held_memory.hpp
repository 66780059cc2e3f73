// The memory of a run by call path: allocated bytes, bytes held at the peak, at the end, and at any
// instant. It comes from the file memory.timeloom of the run.
//
// Plain functions and values, for any thread. Throws Error for a file that is damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/definitions.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

enum class MemoryAmount : std::uint32_t { kAllocated, kAtPeak, kAtEnd, kAtInstant };

struct MemoryQuestion {
  MemoryAmount amount = MemoryAmount::kAllocated;
  std::uint32_t process = kNone;  // kNone: all of them together
  std::uint64_t time_ns = 0;      // the instant, since the start of the run
};

// Bytes, with the error of an estimate: one standard deviation, or more.
struct HeldBytes {
  double bytes = 0;
  double blocks = 0;
  double variance = 0;
};

struct HeldMemory {
  bool exact = true;
  // The bytes that the processes held at the instant, whoever held them; 0: another amount.
  double live = 0;
  HeldBytes own, outside;                      // of the measurement itself; outside all regions
  std::map<std::uint32_t, HeldBytes> by_path;  // of the run
};

// The call paths of an amount. A path that the run has not counts for its longest part that the run
// has. `file`: of the run. REQUIRES: the definitions belong to the run; with an instant, one
// process is named.
HeldMemory held_memory(const std::filesystem::path& file, const Index& index,
                       const Definitions& definitions, const MemoryQuestion& question);

// In the form of docs/formats/view-http.md.
std::string memory_answer(const HeldMemory& held);

}  // namespace timeloom::view
