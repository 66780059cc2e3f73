// Functions whose calls take longer the more of them there were, as a property of a run's profile:
// kGrowingCalls. Plain values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::profile {

inline constexpr char kGrowingCalls[] = "timeloom::growing_calls";

// The sums over all threads and call paths in which the function's calls grow.
struct GrowingCalls {
  std::uint64_t visits = 0;
  std::uint64_t early = 0;    // ns that a call took at first, on average
  std::uint64_t late = 0;     // ns that a call took at last
  std::uint64_t callers = 0;  // functions that call it
  std::string entry;          // region_entry() of the function
};

std::string growing_calls_text(const std::vector<GrowingCalls>& functions);
// A text may come from anybody: entries with impossible values are left out.
std::vector<GrowingCalls> growing_calls_of(std::string_view text);

}  // namespace timeloom::profile
