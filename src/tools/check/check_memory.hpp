// The memory of a run, for rules about it: amounts of the run, and of regions with all that they
// call. Only runs recorded with --memory have them.
//
// Plain values made from a CallTree, which must outlive this. Nothing throws but std::bad_alloc.
#pragma once

#include <string>

#include "core/measuring_cost.hpp"
#include "profile/call_tree.hpp"
#include "tools/check/check_rule.hpp"
#include "tools/report/memory/report_memory.hpp"

namespace timeloom::tools {

class MemoryFigures {
 public:
  // Bytes, or a number of allocations. Held bytes are estimated from sampled blocks: the range is
  // two standard deviations wide on both sides, and ends at the allocated bytes.
  struct Amount {
    double value = 0;
    ErrorRange range{};
  };

  explicit MemoryFigures(const profile::CallTree& tree) : tree_(tree), facts_(memory_facts(tree)) {}

  // Why the run cannot answer a rule of this quantity; empty: it can, or the rule is about
  // something else.
  std::string problem(const Rule& rule) const;
  // Allocations or blocks were too many for the tables: amounts of regions may be more.
  bool is_incomplete() const;
  // REQUIRES: the rule is about memory. The amounts of call paths, and the peak of all processes.
  Amount of_run(const Rule& rule) const;
  // With all that the region calls.
  Amount of_region(const Rule& rule, RegionId region) const;

 private:
  Amount amount(const Rule& rule, const MemoryRow& sum) const;

  const profile::CallTree& tree_;
  const MemoryFacts facts_;
};

}  // namespace timeloom::tools
