// Puts the calls of a GPU library into the stream of the thread that made them: each call lies
// inside the region that made it.
//
// A GpuStream belongs to one location and is used by one thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/event.hpp"

namespace timeloom::weave {

// A parameter or metric of a call's visit.
struct GpuFact {
  EventKind kind = EventKind::kMetric;
  std::uint32_t ref = 0;
  std::uint64_t value = 0;
  bool operator==(const GpuFact&) const = default;
};

// A call, with ids of the run.
struct GpuCall {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Timestamp start{};
  Timestamp end{};
  std::uint32_t region = 0;
  std::uint32_t facts = 0;  // number of facts
  std::size_t first_fact = 0;
};

// The calls of one thread that have not been placed yet. The thread's locations (its tasks) take
// turns.
struct PendingGpuCalls {
  std::span<const GpuCall> calls;  // in order of time
  std::span<const GpuFact> facts;  // of all calls

  // Calls that started before `until` are dropped.
  void drop(Timestamp until);
};

class GpuStream {
 public:
  // Puts the calls that started before an event of the batch in front of it. REQUIRES: the batch
  // has ids and times of the run.
  void merge(PendingGpuCalls& pending, std::vector<Event>& batch);
  // Adds to the batch the calls that started before `until`, and the leaves of the open calls.
  void close(PendingGpuCalls& pending, Timestamp until, std::vector<Event>& batch);
  Timestamp last_time() const noexcept { return last_; }

 private:
  // An open call, or a region that was entered inside one.
  struct Open {
    std::uint32_t call_region;  // GpuCall::kNone: the region is not a call
    Timestamp end;
  };
  void pass(PendingGpuCalls& pending, Timestamp until);
  void enter(const GpuCall& call, std::span<const GpuFact> facts);
  void leave_call(Timestamp time);
  void add_waiting(const Event& event);
  void put(Event event);

  std::vector<Open> open_;  // outermost first
  std::vector<Event> output_;
  Timestamp last_{};
  // The longest call since the last event of the thread: the position of its leave in the output.
  std::size_t longest_ = SIZE_MAX;
  std::uint64_t longest_ns_ = 0;
  std::vector<Timestamp> entered_;  // of the open calls
};

}  // namespace timeloom::weave
