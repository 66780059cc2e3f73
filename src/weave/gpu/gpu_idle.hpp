// Times in which a GPU was idle, and the regions in which the thread that started its next work
// spent these times.
//
// Plain values and functions; a GpuIdleStream belongs to one location and is used by one thread.
// Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/event.hpp"

namespace timeloom::weave {

struct GpuSpan {
  Timestamp start{};
  Timestamp end{};
  std::uint32_t correlation = 0;
};

// The spans of `life` outside of all works of a device. A gap has the correlation of the work that
// ended it; the last gap, of the work before it. Sorts the works.
std::vector<GpuSpan> idle_spans(std::vector<GpuSpan>& works, Timestamp begin, Timestamp end);

// The time of a span that lies outside of `calls`, which are in order and do not overlap.
std::uint64_t outside_ns(const GpuSpan& span, std::span<const GpuSpan> calls);

// A time in which `devices` devices were idle.
struct GpuIdle {
  Timestamp start{};
  Timestamp end{};
  std::uint64_t devices = 0;
};

// The gaps of several devices, in order and without overlaps.
std::vector<GpuIdle> joined_idle(const std::vector<GpuSpan>& gaps);

// The idle times of one thread that have not been placed yet; the thread's locations take turns.
class PendingGpuIdle {
 public:
  PendingGpuIdle() = default;
  explicit PendingGpuIdle(std::span<const GpuIdle> idle) : idle_(idle) {}
  // Nanoseconds from the last call to `until`, added up over the devices.
  std::uint64_t pass(Timestamp until);

 private:
  std::span<const GpuIdle> idle_;
  Timestamp from_{};
};

// Adds a metric with the idle time to visits of regions, without the regions inside. A visit with
// less than 10 us of idle time leaves it to the region around it, so that short functions do not
// double the size of a trace. Calls of the GPU's library have theirs in any case.
class GpuIdleStream {
 public:
  struct Ids {
    std::uint32_t metric = 0;
    std::uint32_t first_call = 0;  // the regions of calls are not below it
  };
  // REQUIRES: the batch has ids and times of the run.
  void add(PendingGpuIdle& pending, const Ids& ids, std::vector<Event>& batch);

 private:
  std::vector<std::uint64_t> open_;  // idle time of the open regions, outermost first
  std::vector<Event> output_;
};

}  // namespace timeloom::weave
