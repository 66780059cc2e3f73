// Functions that a run has not timed to its end, since measuring them took too much (--overhead).
//
// A process notes them in its spool when it gives them up, as properties kGivenUpIds and a number:
// ids of regions with blanks in between. The weave leaves the regions of all processes in the run
// as the property kGivenUp. Regions that were open inside a visit of such a function end with it
// while they still run: these are cut short, and noted as kCutShortIds and kCutShort. All their
// visits are counted, but some have only a part of their time.
//
// Where the instrumenter rested for stretches of time instead, no function was timed to its end.
// A process notes kObservedCpu then, and the run has the property kObservedShare. Plain values and
// pure functions, for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom {

inline constexpr char kGivenUp[] = "timeloom::given_up";
inline constexpr char kGivenUpIds[] = "timeloom::given_up_ids_";
inline constexpr char kCutShort[] = "timeloom::cut_short";
inline constexpr char kCutShortIds[] = "timeloom::cut_short_ids_";
inline constexpr char kObservedCpu[] = "timeloom::observed_cpu";
inline constexpr char kObservedShare[] = "timeloom::observed_share";

std::string ids_text(const std::vector<std::uint32_t>& ids);
// A text may have been written by anybody: what is no number ends it.
std::vector<std::uint32_t> ids_of(std::string_view text);

// For people: "functions seen for 31 % of the CPU time".
std::string seen_text(std::optional<double> observed_share);

// The value of kGivenUp or kCutShort for these regions.
std::string given_up_text(const std::vector<const Region*>& regions);

// The CPU time of a process: the part in which its instrumenter did not rest, and the whole.
struct ObservedCpu {
  std::uint64_t seen_ns = 0;
  std::uint64_t all_ns = 0;  // 0: not known, the process was killed
};

// "SEEN ALL", decimal.
std::string to_text(const ObservedCpu& observed);
// A text may have been written by anybody: what cannot be is not known.
ObservedCpu observed_cpu_of(std::string_view text);
// REQUIRES: all_ns is known.
double share_of(const ObservedCpu& observed);

// The value of kObservedShare for these processes: a decimal share, or "unknown" where one of
// them was killed; empty: none has rested.
std::string observed_share_text(const std::vector<ObservedCpu>& processes);

// The given-up functions of a run, by name and place, since readers number regions anew.
class GivenUp {
 public:
  GivenUp() = default;
  explicit GivenUp(const std::map<std::string, std::string>& properties);
  bool any() const noexcept { return !entries_.empty() || rested_; }
  // Also where all functions are, since the instrumenter rested; regions of the program are not.
  bool holds(const Region& region) const;
  bool names(const Region& region) const;
  // Whether some of its visits have only a part of their time.
  bool cuts_short(const Region& region) const;
  bool rested() const noexcept { return rested_; }
  // While it did not rest, of the CPU time; none: it never rested, or that is not known.
  std::optional<double> observed_share() const noexcept { return observed_share_; }
  // One for each: "pkg.f (file.py:12)".
  const std::set<std::string>& entries() const noexcept { return entries_; }
  // The same of regions that are cut short.
  const std::set<std::string>& cut_short() const noexcept { return cut_short_; }

 private:
  std::set<std::string> entries_;
  std::set<std::string> cut_short_;
  bool rested_ = false;
  std::optional<double> observed_share_;
};

}  // namespace timeloom
