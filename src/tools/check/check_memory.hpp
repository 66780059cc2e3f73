// The memory of a run, for rules about it: amounts of the run, and of regions with all that they
// call. Only runs recorded with --memory have them.
//
// Plain values made from a CallTree. Nothing throws but std::bad_alloc.
#pragma once

#include <string>
#include <vector>

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

  explicit MemoryFigures(const profile::CallTree& tree);

  // The reason why the run cannot answer a rule about memory; empty: it can, or the rule is about
  // another quantity.
  std::string problem(const Rule& rule) const;
  // Whether allocations or blocks were too many for the tables, so that amounts of regions may be
  // larger.
  bool is_incomplete() const;
  // REQUIRES: the rule is about memory. The amounts of call paths, and the peak of all processes.
  Amount of_run(const Rule& rule) const;
  // With all that the region calls.
  Amount of_region(const Rule& rule, RegionId region) const;

 private:
  struct Sums {
    profile::MetricStatistics allocated, at_end;
    void add(const Sums& other);
  };
  static Sums sums_of(const MemoryRow& row) { return {row.allocated, row.at_end}; }
  Amount amount(const Rule& rule, const Sums& sums) const;

  const MemoryFacts facts_;
  Sums run_;                   // of all call paths
  std::vector<Sums> regions_;  // by region, with all that it calls
};

}  // namespace timeloom::tools
