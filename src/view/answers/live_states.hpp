// The states of a run that is still recorded, as the server answers for them: each is a Content
// with a number, and the newest ones are kept. docs/formats/view-http.md has the JSON.
//
// Any thread. Throws only std::bad_alloc.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "view/answers/api.hpp"

namespace timeloom::view {

class LiveStates {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Stage : std::uint8_t {
    kReading,  // there is no state yet
    kRunning,
    kWeaving,  // the program has ended
    kWoven,    // the newest state is the woven run, and stays
    kLost,     // the run cannot be read now; the message has the reason
  };
  // The page asks for a new state, and has this time to ask for the rest of an older one.
  static constexpr std::size_t kKept = 3;

  // Adds a state, which was read from `begin` to `end`.
  void put(std::shared_ptr<const Content> content, Stage stage, Clock::time_point begin,
           Clock::time_point end);
  // Keeps the newest state only, where more would take too much space.
  void drop_older();
  // Changes the stage, without a new state.
  void tell(Stage stage, std::string message = {});

  // Null: there is no such state, or not any more.
  std::shared_ptr<const Content> at(std::uint64_t number) const;
  // The answer to `live`. Somebody watches as long as this is asked.
  std::string describe(Clock::time_point now) const;
  // The time since describe() was called last, or since this object was made.
  Clock::duration unwatched(Clock::time_point now) const;

  // The progress of the state that is read now.
  Progress& progress() noexcept { return progress_; }

 private:
  mutable std::mutex mutex_;
  Progress progress_;
  std::deque<std::shared_ptr<const Content>> kept_;  // the newest is the last
  std::uint64_t newest_ = 0;                         // its number; 0: there is none
  Stage stage_ = Stage::kReading;
  std::string message_;
  Clock::time_point begin_{}, end_{};  // of reading the newest
  mutable Clock::time_point asked_ = Clock::now();
};

}  // namespace timeloom::view
