// `timeloom report --memory --by WORD`: the memory by module, package, file, thread or process.
//
// Plain values made from a CallTree; used by one thread. write_*() throw Error as Output does.
#pragma once

#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/memory/report_memory.hpp"
#include "tools/report/report_by.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Bytes that functions of the group have allocated themselves, and hold.
struct MemoryGroup {
  std::string name;
  profile::MetricStatistics allocated, freed, at_peak, at_end;
};

// The groups, the one with most bytes at the peak first, and of equal ones the one that allocated
// most; the rows of `facts` that belong to no call path come last. REQUIRES: the key is not kWorker
// or kTask.
std::vector<MemoryGroup> memory_groups(const MemoryFacts& facts, const profile::CallTree& tree,
                                       GroupKey key);

void write_memory_by(const std::vector<MemoryGroup>& groups, GroupKey key, const MemoryFacts& facts,
                     const Terminal& terminal, Output& output);
void write_memory_by_json(const std::vector<MemoryGroup>& groups, GroupKey key,
                          const MemoryFacts& facts, Output& output);

}  // namespace timeloom::tools
