// Functions that were given up: the run stopped timing them before its end, since measuring them
// cost too much (--overhead).
//
// A process that gives functions up writes their region ids into its spool, with blanks between,
// as properties whose name is kGivenUpIds and a number. The weave writes the regions of all
// processes into the run as the property kGivenUp. When a function is given up during a visit, the
// regions open inside that visit end with it in the trace, though they still run. They are cut
// short: kCutShortIds and kCutShort list them. All their visits are counted, but some have only a
// part of their time.
//
// The instrumenter may rest (switch itself off) for stretches of time instead; then every function
// has been timed for a part of the run only. Such a process writes kObservedCpu, and the run has
// the property kObservedShare. Plain values and pure functions, for any thread.
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
// A text may come from anybody: reading ends at the first word that is not a number.
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
// A text may come from anybody: impossible values count as not known.
ObservedCpu observed_cpu_of(std::string_view text);
// REQUIRES: all_ns is known.
double share_of(const ObservedCpu& observed);

// The value of kObservedShare for these processes: a decimal share, or "unknown" if one of them was
// killed; empty: no instrumenter has rested.
std::string observed_share_text(const std::vector<ObservedCpu>& processes);

// The given-up functions of a run, by name, file and line, since each reader numbers regions anew.
class GivenUp {
 public:
  GivenUp() = default;
  explicit GivenUp(const std::map<std::string, std::string>& properties);
  bool any() const noexcept { return !entries_.empty() || rested_; }
  // Whether the region was given up. If the instrumenter rested, all functions were; regions that
  // the program marks itself were not.
  bool holds(const Region& region) const;
  bool names(const Region& region) const;
  // Whether some of its visits have only a part of their time.
  bool cuts_short(const Region& region) const;
  bool rested() const noexcept { return rested_; }
  // The share of CPU time in which the instrumenter did not rest; none: it never rested, or the
  // share is not known.
  std::optional<double> observed_share() const noexcept { return observed_share_; }
  // One for each: "pkg.f (file.py:12)".
  const std::set<std::string>& entries() const noexcept { return entries_; }
  // The same for regions that are cut short.
  const std::set<std::string>& cut_short() const noexcept { return cut_short_; }

 private:
  std::set<std::string> entries_;
  std::set<std::string> cut_short_;
  bool rested_ = false;
  std::optional<double> observed_share_;
};

}  // namespace timeloom
