// The activity of the GPUs of one process, with the run's ids and times: the calls of each thread,
// the work of each queue, and the call that caused each piece of work.
//
// Built by one thread, then constant and readable from any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "spool/gpu_reader.hpp"
#include "spool/reader.hpp"
#include "weave/gpu/gpu_calls.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

// Adds the definitions that events of GPUs refer to, each once.
class GpuDefinitions {
 public:
  explicit GpuDefinitions(Definitions& run) : run_(run) {}
  std::uint32_t region(const std::string& name, const char* group, RegionRole role,
                       const std::string& canonical);
  // A string: the name of a region.
  std::uint32_t region_name(std::uint32_t region) { return string(run_.regions[region].name); }
  std::uint32_t string(const std::string& text);
  // Definitions for the events of calls, made on first use.
  GpuCallIds call_ids();
  std::uint32_t metric(const char* name, const char* unit);

 private:
  Definitions& run_;
  std::map<std::string, std::uint32_t> regions_;  // by group and canonical name
  std::map<std::string, std::uint32_t> strings_;
  std::optional<GpuCallIds> call_ids_;
};

struct GpuWork {
  Timestamp start{};
  Timestamp end{};
  std::uint32_t region = 0;
  std::optional<std::uint64_t> queue_ns{};  // from the start of its call, which may be unknown
  std::optional<std::uint64_t> bytes{};
};

class GpuTimeline {
 public:
  // The lifetime of the process; no event lies outside it.
  struct Life {
    Timestamp begin{};
    Timestamp end{};
  };
  struct Queue {
    std::string name;
    std::vector<GpuWork> works{};  // in order of time; none starts before the one before it has
                                   // ended
  };

  GpuTimeline(const spool::GpuData& data, const spool::ProcessDefinitions& process,
              const ProcessClock& clock, const Life& life, GpuDefinitions& definitions);

  const std::vector<Queue>& queues() const noexcept { return queues_; }
  // The calls of the thread with that index in the process.
  std::span<const GpuCall> calls_of(std::uint32_t thread) const noexcept;
  // Threads that are known by their GPU calls only.
  struct NativeThread {
    std::string name;
    std::uint64_t id;
    std::vector<GpuCall> calls{};
  };
  const std::vector<NativeThread>& native_threads() const noexcept { return native_; }

  GpuCallIds call_ids() const noexcept { return call_ids_; }
  std::uint32_t queue_metric() const noexcept { return queue_metric_; }
  std::uint32_t bytes_metric() const noexcept { return bytes_metric_; }
  // Time in which a device was busy, added up over all devices.
  std::uint64_t busy_ns() const noexcept { return busy_ns_; }
  std::uint64_t devices() const noexcept { return devices_; }
  std::uint64_t lost() const noexcept { return lost_; }
  bool left() const noexcept { return left_; }

 private:
  // The work that a call has started.
  struct Started {
    std::uint32_t region = 0;
    std::uint64_t gpu_ns = 0;
    std::uint32_t works = 0;
    bool various = false;  // the works have different names
  };
  struct Building;

  void add_work(const spool::GpuRecord& record, Building& building);
  void add_call(const spool::GpuRecord& record, Building& building);
  void put_queues_in_order();
  void measure_busy(const Building& building);

  std::vector<Queue> queues_;
  std::map<std::uint32_t, std::vector<GpuCall>> calls_;  // by index of the thread
  std::vector<NativeThread> native_;
  GpuCallIds call_ids_;
  std::uint32_t queue_metric_ = 0;
  std::uint32_t bytes_metric_ = 0;
  std::uint64_t busy_ns_ = 0;
  std::uint64_t devices_ = 0;
  std::uint64_t lost_ = 0;
  bool left_ = false;
};

}  // namespace timeloom::weave
