// The memory of two runs compared: the peak, the bytes that were allocated, and who held them at
// the peak and at the end.
//
// Plain values and functions. write_*() throw Error as Output does. If a side has several runs,
// their medians are compared, and a change counts only if the highest run of one side is below the
// lowest of the other; a change of bytes that are estimated from sampled blocks counts only if it
// is also larger than twice its error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "profile/diff.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// An amount on both sides, in bytes or allocations.
struct MemoryChange {
  double before = 0;
  double after = 0;
  profile::DiffRange before_range;
  profile::DiffRange after_range;
  double error = 0;  // of the difference, one standard deviation; 0: exact

  double difference() const { return after - before; }
  bool counts() const;
};

// A region itself, without what it calls; in all processes.
struct MemoryDiffRow {
  std::string name;
  std::string file;
  std::uint32_t line = 0;
  MemoryChange allocated, allocations, at_peak, at_end;
  bool changed() const { return allocated.counts() || at_peak.counts() || at_end.counts(); }
  bool differs() const;
};

struct MemoryDiff {
  MemoryChange peak, allocated, at_end;  // of all processes together
  std::vector<MemoryDiffRow> rows;       // those that changed, the largest change first
  std::uint64_t uncertain = 0;           // rows with other differences
};

// None: a run has not recorded its allocations. REQUIRES: neither side is empty.
std::optional<MemoryDiff> compare_memory(std::span<const profile::CallTree> before,
                                         std::span<const profile::CallTree> after);

// Hides rows that changed by less than `min_percent` of the larger peak, and of the larger sum.
void write_memory_diff(const MemoryDiff& diff, double min_percent, const Terminal& terminal,
                       Output& output);
nlohmann::ordered_json memory_diff_json(const MemoryDiff& diff);

}  // namespace timeloom::tools
