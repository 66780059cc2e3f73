// Holds rules against a run.
//
// Plain values and functions. Nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/check_rule.hpp"

namespace timeloom::tools {

enum class Outcome : std::uint8_t { kHolds, kBroken, kUnknown };

struct CheckedRegion {
  std::string name;
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
  double measured = 0;
  bool holds = false;
};

struct Verdict {
  Rule rule;
  Outcome outcome = Outcome::kUnknown;
  // Of the run, or of the region that decides: the one that is furthest from keeping
  // the rule, or with `any` the one that keeps it best.
  double measured = 0;
  std::vector<CheckedRegion> regions;  // that the rule is about, the deciding one first
  std::string problem;                 // why it is unknown

  std::size_t broken() const;  // how many regions do not keep it
};

std::vector<Verdict> judge(const std::vector<Rule>& rules, const profile::CallTree& tree);

}  // namespace timeloom::tools
