// The rules of `timeloom check`, limits on a run. docs/check.md describes the language.
//
//   total(solve) < 2s      region "solve" total < 2s      any visits(*.load) >= 1
//   overhead < 5%          work < 20s      waiting_lock(*.post) < 1s
//   peak(memory) < 2GB     held(*.load) < 10MB
//
// Plain values; parsing throws Error with one line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/waiting_metric.hpp"

namespace timeloom::tools {

enum class Quantity : std::uint8_t {
  kTotal,  // of regions, up to kHeld
  kSelf,
  kVisits,
  kMin,
  kMax,
  kMean,
  kWork,  // of regions or of the run, up to kHeld
  kWaiting,
  kAllocations,  // of memory
  kAllocated,
  kHeld,  // at the end
  kPeak,  // of the run, as all below
  kWall,
  kCollections,  // of garbage
  kOverhead,
  kEfficiency,  // of processes of MPI, as `timeloom report --mpi`
  kBalance,
  kCommunication,
  kThreads,
  kProcesses,
};

constexpr bool may_be_of_regions(Quantity quantity) { return quantity <= Quantity::kHeld; }
constexpr bool may_be_of_run(Quantity quantity) { return quantity >= Quantity::kWork; }
constexpr bool is_of_memory(Quantity quantity) {
  return quantity >= Quantity::kAllocations && quantity <= Quantity::kPeak;
}

std::string_view quantity_name(Quantity quantity);

enum class Comparison : std::uint8_t { kLess, kAtMost, kMore, kAtLeast, kEqual };

bool holds(double measured, Comparison comparison, double limit);

// The unit of a value.
struct Unit {
  std::string name = {};  // "ms", "MB", "%"; empty: a number
  double factor = 1;      // one unit is factor / divisor seconds, bytes or shares
  double divisor = 1;     // (two numbers, because each alone is exact)

  double to_base(double value) const { return value * factor / divisor; }
  double from_base(double value) const { return value * divisor / factor; }
};

struct Rule {
  std::string text;  // as written
  Quantity quantity = Quantity::kTotal;
  std::optional<WaitingCause> cause;  // of kWaiting: this part of it
  std::string region;                 // a name or pattern; empty: the rule is about the run
  bool any = false;                   // one region that matches is enough; else each has to
  Comparison comparison = Comparison::kLess;
  double limit = 0;  // seconds, bytes, a share, or a number
  Unit unit;         // of the limit

  bool is_of_regions() const { return !region.empty(); }
  std::string quantity_text() const;  // "waiting_lock"
  bool is_share() const { return unit.name == "%"; }
  bool is_bytes() const { return unit.name.ends_with('B'); }
  bool holds(double measured) const { return tools::holds(measured, comparison, limit); }
  // Whether it forbids any visit of a region.
  bool forbids() const;
};

Rule parse_rule(const std::string& text);

// The texts of the rules in a TOML file: `rules = ["...", "..."]`.
std::vector<std::string> load_rules(const std::filesystem::path& file);

}  // namespace timeloom::tools
