// Throttled functions ("given up" in runs and JSON): the run stopped timing them before its end,
// since measuring them cost too much (--overhead).
//
// A process that throttles functions writes their region ids into its spool, with blanks between,
// as properties whose name is kThrottledIds and a number. The weave writes the regions of all
// processes into the run as the property kThrottled. When a function is throttled during a visit,
// the regions open inside that visit end with it in the trace, though they still run. They are
// truncated: kTruncatedIds and kTruncated list them. All their visits are counted, but some have
// only a part of their time.
//
// The instrumenter may be paused for stretches of time instead; then every function
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

inline constexpr char kThrottled[] = "timeloom::given_up";
inline constexpr char kThrottledIds[] = "timeloom::given_up_ids_";
inline constexpr char kTruncated[] = "timeloom::cut_short";
inline constexpr char kTruncatedIds[] = "timeloom::cut_short_ids_";
inline constexpr char kObservedCpu[] = "timeloom::observed_cpu";
inline constexpr char kObservedShare[] = "timeloom::observed_share";

std::string ids_text(const std::vector<std::uint32_t>& ids);
// A text may come from anybody: reading ends at the first word that is not a number.
std::vector<std::uint32_t> ids_of(std::string_view text);

// For people: "functions seen for 31 % of the CPU time".
std::string seen_text(std::optional<double> observed_share);

// A region in a property, since each reader numbers regions anew: "pkg.f (file.py:12)", without
// control characters and " | ".
std::string region_entry(const Region& region);

// The value of kThrottled or kTruncated for these regions.
std::string throttled_text(const std::vector<const Region*>& regions);

// The CPU time of a process: the part in which its instrumenter was not paused, and the whole.
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
// killed; empty: no instrumenter was paused.
std::string observed_share_text(const std::vector<ObservedCpu>& processes);

// The given-up functions of a run, by name, file and line, since each reader numbers regions anew.
class ThrottledFunctions {
 public:
  ThrottledFunctions() = default;
  explicit ThrottledFunctions(const std::map<std::string, std::string>& properties);
  bool any() const noexcept { return !entries_.empty() || was_paused_; }
  // Whether the region was throttled. If the instrumenter was paused, all functions were; regions
  // that the program marks itself were not.
  bool holds(const Region& region) const;
  bool names(const Region& region) const;
  // Whether some of its visits have only a part of their time.
  bool truncates(const Region& region) const;
  bool was_paused() const noexcept { return was_paused_; }
  // The share of CPU time in which the instrumenter was not paused; none: it was never paused, or
  // the share is not known.
  std::optional<double> observed_share() const noexcept { return observed_share_; }
  // One for each: "pkg.f (file.py:12)".
  const std::set<std::string>& entries() const noexcept { return entries_; }
  // The same for regions that are truncated.
  const std::set<std::string>& truncated() const noexcept { return truncated_; }

 private:
  std::set<std::string> entries_;
  std::set<std::string> truncated_;
  bool was_paused_ = false;
  std::optional<double> observed_share_;
};

}  // namespace timeloom
