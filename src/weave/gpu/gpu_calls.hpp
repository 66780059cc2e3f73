// Puts the calls that a thread made of a GPU's library into the stream of that thread: each lies
// inside the region that made it.
//
// A GpuStream is that of one location, used by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/event.hpp"

namespace timeloom::weave {

// A call, with ids of the run.
struct GpuCall {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Timestamp start{};
  Timestamp end{};
  std::uint32_t region = 0;
  std::uint32_t started =
      kNone;                 // string: the kernel or copy that it has started; none, or several
  std::uint64_t gpu_ns = 0;  // time of what it has started
  std::uint32_t works = 0;   // how many these are
};

// The ids of definitions that the events of calls refer to.
struct GpuCallIds {
  std::uint32_t started = 0;   // parameter
  std::uint32_t gpu_time = 0;  // metric
};

// The calls of one thread that have not been put anywhere yet: a location takes its turn with
// others of the thread (tasks).
struct PendingGpuCalls {
  std::span<const GpuCall> calls;  // in order of time
  GpuCallIds ids;

  // Those that began before `until` are put nowhere.
  void drop(Timestamp until);
};

class GpuStream {
 public:
  // Adds the calls that began before an event of the batch, which is of the run.
  void merge(PendingGpuCalls& pending, std::vector<Event>& batch);
  // Adds to the batch the calls that began before `until`, and the leaves of those that are open.
  void close(PendingGpuCalls& pending, Timestamp until, std::vector<Event>& batch);
  Timestamp last_time() const noexcept { return last_; }

 private:
  // An open call, or a region that was entered inside one.
  struct Open {
    std::uint32_t call_region;  // GpuCall::kNone: it is no call
    Timestamp end;
  };
  void pass(PendingGpuCalls& pending, Timestamp until);
  void enter(const GpuCall& call, const GpuCallIds& ids);
  void leave_call(Timestamp time);
  void add_waiting(const Event& event);
  void put(Event event);

  std::vector<Open> open_;  // outermost first
  std::vector<Event> output_;
  Timestamp last_{};
  // Of the longest call since the last event of the thread: where its leave is in the output.
  std::size_t longest_ = SIZE_MAX;
  std::uint64_t longest_ns_ = 0;
  std::vector<Timestamp> entered_;  // of the open calls
};

}  // namespace timeloom::weave
