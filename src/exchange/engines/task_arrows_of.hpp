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

// By location: of each task in the order of their keys' events. A location whose tasks have no
// arrows is missing.
using NumberedArrows = std::map<LocationId, std::vector<ArrowsOfTask>>;

// If the run has keys of values that tasks take, it is read once more. A note tells if arrows are
// missing.
NumberedArrows number_arrows(RunSource& run, const Options& options);

// The arrows of the tasks of one location, in their order; used by one thread.
class ArrowReader {
 public:
  // All arguments outlive it.
  ArrowReader(const Definitions& definitions, const NumberedArrows& numbers, LocationId location)
      : parameters_(definitions) {
    const auto found = numbers.find(location);
    if (found != numbers.end()) tasks_ = &found->second;
  }

  // False: the location has no arrows.
  bool any() const noexcept { return tasks_ != nullptr; }

  // The arrows of the task that a call is, by the parameters that it was entered with; null: it is
  // not a task. REQUIRES: called with every call, in order.
  const ArrowsOfTask* entered(std::span<const Event> arguments) {
    const ArrowsOfTask* found = nullptr;
    for (const Event& one : arguments) {
      if (parameters_.kind_of(one) != profile::TaskParameters::Kind::kKey) continue;
      if (next_ < tasks_->size()) found = &(*tasks_)[next_];
      ++next_;
    }
    open_.push_back(found);
    return found;
  }
  // The same for the innermost open call, which ends.
  const ArrowsOfTask* left() {
    if (open_.empty()) return nullptr;
    const ArrowsOfTask* const task = open_.back();
    open_.pop_back();
    return task;
  }

 private:
  profile::TaskParameters parameters_;
  const std::vector<ArrowsOfTask>* tasks_ = nullptr;
  std::size_t next_ = 0;
  std::vector<const ArrowsOfTask*> open_;
};

}  // namespace timeloom::exchange
