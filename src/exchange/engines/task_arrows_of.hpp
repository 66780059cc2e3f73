// Numbers of the arrows between tasks (profile/engines/task_arrows.hpp), for formats that draw
// them.
//
// A const object may be used by any thread. Throws std::bad_alloc, and Error where reading the run
// fails.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/event.hpp"
#include "exchange/export_format.hpp"
#include "profile/engines/task_arrows.hpp"

namespace timeloom::exchange {

// The arrows of a task, by numbers from 1 on that no other arrow of the run has.
struct ArrowsOfTask {
  std::vector<std::uint64_t> taken;  // they end at its start
  std::vector<std::uint64_t> made;   // they start at its end
};

// The arrows of the tasks of a location, by the numbers of their calls in the order of enters.
using ArrowsByCall = std::map<std::uint64_t, ArrowsOfTask>;
// A location whose tasks have no arrows is missing, as are its tasks without arrows.
using NumberedArrows = std::map<LocationId, ArrowsByCall>;

// If the run has keys of values that tasks take, it is read once more. A note tells if arrows are
// missing.
NumberedArrows number_arrows(RunSource& run, const Options& options);

// The arrows of the tasks of one location, in the order of its calls; used by one thread.
class ArrowReader {
 public:
  // `numbers` outlives it.
  ArrowReader(const NumberedArrows& numbers, LocationId location) {
    const auto found = numbers.find(location);
    if (found == numbers.end()) return;
    tasks_ = &found->second;
    next_ = tasks_->begin();
  }

  // False: the location has no arrows.
  bool any() const noexcept { return tasks_ != nullptr; }

  // The arrows of the task that a call is; null: it has none. REQUIRES: any(); called for every
  // enter, in order.
  const ArrowsOfTask* entered() {
    const std::uint64_t call = calls_++;
    const bool is_next = next_ != tasks_->end() && next_->first == call;
    open_.push_back(is_next ? &next_++->second : nullptr);
    return open_.back();
  }
  // The same for the innermost open call, which ends.
  const ArrowsOfTask* left() {
    if (open_.empty()) return nullptr;
    const ArrowsOfTask* const task = open_.back();
    open_.pop_back();
    return task;
  }

 private:
  const ArrowsByCall* tasks_ = nullptr;
  ArrowsByCall::const_iterator next_;  // of the calls that are not entered yet
  std::uint64_t calls_ = 0;            // so far
  std::vector<const ArrowsOfTask*> open_;
};

}  // namespace timeloom::exchange
