// `timeloom report --memory`: the peak and who held it, who allocates most, and what remained at
// the end.
//
// Plain values made from a CallTree, which must outlive them; used by one thread. write_*() throw
// Error as Output does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/memory_facts.hpp"
#include "profile/call_tree.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// The row of the measurement itself.
inline constexpr char kOwnMemory[] = "(Timeloom)";

// A call path, over all threads and processes; without what it calls.
struct MemoryRow {
  profile::NodeId node;         // undefined: memory that belongs to no call path
  const char* apart = nullptr;  // the name in place of the call path
  profile::MetricStatistics allocated, freed, at_peak, at_end;
  profile::MetricStatistics python_allocated, python_freed;  // of Python's own allocators
  profile::MetricStatistics temporary;  // freed within a millisecond: an estimate
};

struct MemoryFacts {
  struct Process {
    std::string name;
    ProcessMemory memory;
  };
  ProcessMemory run;  // the peak of all processes together
  std::vector<Process> processes;
  std::vector<MemoryRow> rows;         // in the order of the call tree
  std::vector<std::string> functions;  // whose call paths alone are in `rows`; empty: all are
  bool any() const { return !processes.empty(); }
  // Mean bytes between two sampled ones: of the blocks that were held (0: all blocks are known),
  // and of temporary ones (0: the life of each is known).
  double interval() const;
  double temporary_interval() const;
};

// The peak of a run's memory; none: it was not recorded.
std::optional<ProcessMemory> memory_peak(const Definitions& definitions);

MemoryFacts memory_facts(const profile::CallTree& tree);

// Leaves only the call paths with one of the regions: the functions and what they call.
void keep_paths_with(MemoryFacts& facts, const profile::CallTree& tree,
                     const std::vector<RegionId>& regions);

// The rows of each location alone, by its index. None of them is `apart`.
std::vector<std::pair<std::size_t, MemoryRow>> memory_rows_by_location(
    const profile::CallTree& tree);

void write_memory(const MemoryFacts& facts, const profile::CallTree& tree, const Terminal& terminal,
                  Output& output);
void write_memory_json(const MemoryFacts& facts, const profile::CallTree& tree, Output& output);

}  // namespace timeloom::tools
