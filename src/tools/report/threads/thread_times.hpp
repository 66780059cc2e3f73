// How many threads of a run worked at once, and what the others waited for, from the events of a
// trace.
//
// A sink for the events of a run. ThreadTimes follows the rules of RunSink; parallel() is for one
// thread, after the replay. Between two events of a thread, its work is taken to be spread evenly
// over the time less the measured waiting; waiting of less than 100 us is not measured. Throws
// Error where the length of the run is not known.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/waiting_metric.hpp"
#include "tools/report/report_causes.hpp"
#include "tools/report/threads/timeline.hpp"

namespace timeloom::tools {

struct ThreadRow {
  LocationId location;
  std::string name;    // "worker-1 of app.py" where the run has several processes
  double working = 0;  // seconds
  double waiting = 0;
  CauseTimes causes;  // of the waiting
  bool idle = false;  // had_nothing_to_do()
};

// Whether a thread did nothing but wait in functions of libraries, as the threads of a pool do that
// are given no work. `elsewhere`: the part of its waiting that is in no function of the project nor
// below one. All in the same unit; `all`: the whole time of the thread.
bool had_nothing_to_do(double working, double waiting, double elsewhere, double all) noexcept;

// Waiting of threads for something that others have, and the threads that worked meanwhile. The
// waiting of threads that had nothing to do is left out.
struct HeldBack {
  WaitingCause cause = WaitingCause::kGil;
  double waiting = 0;  // seconds, of all threads together
  struct By {
    std::string name;
    double seconds = 0;  // of the waiting
  };
  std::vector<By> by;  // the most first; none for a processor
};

// Collections of garbage: meanwhile no other thread of the same interpreter runs Python code, with
// the GIL or, in builds without one, since the collector stops them all. A collection that
// gc.collect() asked for counts once, also where the function has a region of its own.
struct Collections {
  std::uint64_t count = 0;
  double seconds = 0;  // of all of them
  double longest = 0;
  std::vector<HeldBack::By> by;  // the threads in which they were, the most first
};

struct Parallel {
  double seconds = 0;  // of the run
  double average = 0;  // threads that worked at once
  // Shares of the time by the number of threads that worked. A fractional number is divided between
  // both neighbours: 1.2 threads are 0.8 of one and 0.2 of two.
  std::vector<double> shares;
  std::vector<ThreadRow> threads;  // with the most work first; the idle ones last
  std::vector<HeldBack> held;      // the longest first
  double unknown = 0;              // seconds of waiting without a known cause, as in HeldBack
  Collections collections;         // of processes with several of these threads
  bool measured = false;           // false: waiting is only guessed from the names of functions
  bool has_causes = false;         // causes were looked for while the program ran
  bool has_tasks = false;          // some rows are tasks: their work is in no thread
};

class ThreadTimes final : public RunSink {
 public:
  explicit ThreadTimes(std::set<LocationId> locations) : locations_(std::move(locations)) {}

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  Parallel parallel() const;

  static constexpr std::size_t kSteps = 1 << 18;  // of the number of threads at work
  static constexpr std::size_t kFew = 1 << 12;    // of a single thread
  static constexpr std::array<WaitingCause, 2> kHeld = {WaitingCause::kGil, WaitingCause::kLock};

 private:
  class OneLocation;
  enum class Use : std::uint8_t { kWork, kWaiting, kNothing };
  struct Known {  // of a region
    Use use = Use::kWork;
    std::array<WaitingCause, kWaitingCauses> causes{};  // by the cause that was seen
    bool collects = false;                              // garbage
    bool project = false;                               // a function of the project
  };
  struct Thread {
    ThreadRow row;
    std::uint32_t process = 0;
    std::vector<double> working;                // by few steps
    std::array<std::vector<double>, 2> held{};  // waiting, by few steps; empty: none
    Collections collections;
  };
  void add_held(const std::vector<const Thread*>& process, std::size_t cause,
                std::vector<HeldBack::By>& by) const;
  HeldBack held_back(std::size_t cause) const;
  Collections collections() const;

  std::set<LocationId> locations_;
  const Definitions* definitions_ = nullptr;
  std::vector<Known> known_;  // by region
  std::uint64_t length_ = 1;  // ticks
  bool measured_ = false;
  std::mutex mutex_;
  Timeline all_;
  std::vector<Thread> threads_;
};

}  // namespace timeloom::tools
