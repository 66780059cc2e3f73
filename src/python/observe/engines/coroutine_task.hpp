// A task of an engine that is a coroutine, or a transfer of one: a region from its first step to
// its last, with parameters. It lies on a lane of its own (tasks/engine_lanes.hpp); with tasks as
// tracks, it lies on the track of the coroutine that awaits it.
//
// Used by the thread that runs the coroutine, with the GIL or, on builds without one, an attached
// thread state.
#pragma once

#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/event_word.hpp"
#include "python/observe/tasks/engine_lanes.hpp"

namespace timeloom::python {

// A parameter of a region.
struct Fact {
  std::string parameter;
  std::variant<std::uint64_t, std::string> value;
};

// Of a list of pairs (str, int or str); other elements are left out. Throws std::bad_alloc.
std::vector<Fact> facts_in(PyObject* pairs);

class CoroutineTask {
 public:
  // `lane`: the name of its lanes. `hides`: the functions that it calls are not recorded.
  CoroutineTask(EventWord word, std::string lane, std::vector<Fact> facts, bool hides)
      : word_(word), lane_name_(std::move(lane)), facts_(std::move(facts)), hides_(hides) {}
  // Ends it, if it is suspended. Any thread may call it, and an exception that is set stays.
  ~CoroutineTask();
  CoroutineTask(const CoroutineTask&) = delete;
  CoroutineTask& operator=(const CoroutineTask&) = delete;

  // The first step decides: a task that begins while nothing is recorded is not recorded later.
  void begin_step() noexcept;
  // `suspended`: it goes on later.
  void end_step(bool suspended) noexcept;

 private:
  enum class Place : std::uint8_t { kNotBegun, kNowhere, kTrackOfTask, kLane };

  void begin();
  bool is_here() const noexcept;
  void put_facts() const noexcept;

  EventWord word_;
  std::string lane_name_;
  std::vector<Fact> facts_;
  bool hides_;
  std::unique_ptr<EngineLane> lane_;
  Place place_ = Place::kNotBegun;
  std::uint32_t measurement_ = 0;  // in which it began
  bool in_step_ = false;
};

}  // namespace timeloom::python
