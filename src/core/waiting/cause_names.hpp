// Causes of waiting by the names of functions that are known to wait.
//
// Pure functions, for any thread. Throws nothing but std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "core/waiting_metric.hpp"

namespace timeloom {

// The cause by the name of a function that is known to wait; none: it is not.
std::optional<WaitingCause> cause_by_name(std::string_view name);

// The cause of waiting in this region, from the cause that was seen and `by_name`, the cause by the
// region's name.
WaitingCause cause_in(const Region& region, WaitingCause seen,
                      const std::optional<WaitingCause>& by_name);

// The same, with the name looked up.
inline WaitingCause cause_in(const Region& region, WaitingCause seen) {
  return cause_in(region, seen, cause_by_name(region.name));
}

// The causes in all regions of a run, looked up once: cause_in() compares names. A const object may
// be used by any thread.
class RegionCauses {
 public:
  explicit RegionCauses(const Definitions& definitions);
  // REQUIRES: `region` is defined, and `seen` is less than kWaitingCauses.
  WaitingCause in(std::uint32_t region, WaitingCause seen) const noexcept {
    return causes_[region][static_cast<std::uint32_t>(seen)];
  }

 private:
  std::vector<std::array<WaitingCause, kWaitingCauses>> causes_;  // by region and seen cause
};

// Whether the function belongs to the library of an event loop, asyncio or trio.
bool is_of_event_loop(std::string_view name);

// The cause of a suspension of a task in this function of asyncio or trio; none: its name does not
// tell.
std::optional<WaitingCause> cause_of_suspension(std::string_view name);

// For what a task is suspended, from the functions around the suspension, the innermost first. Of
// the functions of the event loop's own library the outermost that tells its purpose counts: a
// process that is awaited ends by a message of the kernel, but the wait is for the process.
class SuspensionCause {
 public:
  // Takes the next function outward. Returns false if it, and all around it, do not count.
  bool take(std::string_view name) {
    if (!is_of_event_loop(name)) return false;
    if (const auto cause = cause_of_suspension(name)) cause_ = *cause;
    return true;
  }
  WaitingCause cause() const noexcept { return cause_; }

 private:
  WaitingCause cause_ = WaitingCause::kUnknown;
};

// Whether a task that is suspended in this function has nothing to do: it waits for its next order.
bool is_idle_suspension(std::string_view name);

}  // namespace timeloom
