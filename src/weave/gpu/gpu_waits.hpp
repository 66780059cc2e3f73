// The calls that wait for work of a GPU, and the queues or events for which they wait.
//
// Built by one thread from the records of a process, then constant. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "spool/gpu_reader.hpp"

namespace timeloom::weave {

// A device in names.
std::string device_number(std::uint32_t device);
// The name of a queue's location.
std::string queue_name(std::uint32_t device, std::uint64_t queue);

// The first call with each correlation.
using GpuCallRecords = std::unordered_map<std::uint32_t, const spool::GpuRecord*>;

struct GpuWaitOfCall {
  std::uint64_t ticks = 0;  // in which the thread waited
  std::string what{};       // queues or an event; empty: not known
};

class GpuWaits {
 public:
  GpuWaits(const spool::GpuData& data, const GpuCallRecords& calls);
  // nullptr: the call waits for nothing.
  const GpuWaitOfCall* of(std::uint32_t correlation) const;
  // Waits whose call is not known.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  using EventKey = std::pair<std::uint32_t, std::uint64_t>;  // context and event
  struct Put {
    std::uint64_t ticks;
    std::uint32_t place;
    bool operator<(const Put& other) const noexcept { return ticks < other.ticks; }
  };

  void take_events(const spool::GpuData& data, const GpuCallRecords& calls);
  std::string place_name(const spool::GpuPlace& place) const;
  std::string event_name(const spool::GpuData& data, const spool::GpuRecord& wait) const;
  std::string name(const spool::GpuData& data, const spool::GpuRecord& wait) const;

  std::unordered_map<std::uint32_t, std::uint32_t> devices_;  // by context
  std::map<EventKey, std::vector<Put>> events_;
  std::unordered_map<std::uint32_t, GpuWaitOfCall> waits_;  // by correlation
  std::uint64_t lost_ = 0;
};

}  // namespace timeloom::weave
