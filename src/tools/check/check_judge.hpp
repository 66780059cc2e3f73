// Verdicts of the rules of `timeloom check` on a run.
//
// Plain values and functions. They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/measuring_cost.hpp"
#include "profile/call_tree.hpp"
#include "tools/check/check_rule.hpp"

namespace timeloom::tools {

// kUndecided: the measured value is an estimate, and the limit lies within its uncertainty; or
// parts of the run are lost that could change the answer.
enum class Outcome : std::uint8_t { kHolds, kBroken, kUnknown, kUndecided };

struct CheckedRegion {
  std::string name;
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
  double measured = 0;
  bool holds = false;
  bool certain = true;  // neither losses of the run nor the error of an estimate can change that
  ErrorRange error_range{};
};

struct Verdict {
  Rule rule;
  Outcome outcome = Outcome::kUnknown;
  // The value of the run, or of the deciding region: the one that breaks the rule most, or
  // with `any` the one that keeps it best.
  double measured = 0;
  ErrorRange error_range{};            // the range of the true value, if it is an estimate
  bool lacks = false;                  // kUndecided because parts of the run are lost
  std::vector<CheckedRegion> regions;  // matched by the rule, the deciding one first
  std::string problem;                 // the reason for kUnknown

  std::size_t broken() const;  // the number of regions that break the rule
};

std::vector<Verdict> judge(const std::vector<Rule>& rules, const profile::CallTree& tree);

}  // namespace timeloom::tools
