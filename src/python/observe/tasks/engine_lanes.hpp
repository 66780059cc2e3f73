// Lanes of the coroutines of engines: a coroutine that is a region of an engine lies on a track of
// its own while it runs and while it is suspended, also where tasks of asyncio are not tracks
// (tasks.hpp). Those that overlap in time lie on different lanes, so there are as many as were ever
// in use at once.
//
// As on the tracks of tasks, a coroutine that is suspended is in the region "suspended", and the
// thread that runs it is in the region "task" meanwhile. Needs the GIL or, on builds without one, a
// CriticalSection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/event_word.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {

// A lane while a coroutine has it. Used by the thread that runs the coroutine.
class EngineLane {
 public:
  // A lane of this name, of the calling thread, which goes on there; nothing is recorded elsewhere.
  explicit EngineLane(std::string name);
  // A coroutine that never ended ends here, if its thread is the calling one, and otherwise before
  // the next step on a lane of its thread.
  ~EngineLane();
  EngineLane(const EngineLane&) = delete;
  EngineLane& operator=(const EngineLane&) = delete;

  // False: nothing is recorded here, or the measurement ended.
  explicit operator bool() const noexcept;
  void begin_step() noexcept;
  void suspend() noexcept;
  void end() noexcept;

 private:
  void go_back() noexcept;

  std::string name_;
  std::unique_ptr<record::Track> track_;
  record::Track* before_ = nullptr;  // that the thread was on
  std::uint32_t thread_ = 0;         // its location
  std::uint64_t epoch_ = 0;
  bool suspended_ = false;
};

// The lanes of coroutines of engines in this measurement.
std::uint64_t engine_lanes_made() noexcept;
// The measurement ends, or goes on in the child of a fork: no lane is valid any more.
void forget_engine_lanes() noexcept;

}  // namespace timeloom::python
