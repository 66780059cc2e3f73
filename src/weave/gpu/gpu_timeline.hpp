// What the GPUs of one process did, in terms of the run: the calls of each thread, the work of each
// queue, and which call caused which work.
//
// Built by one thread, then constant and for any number of them.
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

// Adds to the definitions of a run what the events of GPUs refer to, each once.
class GpuDefinitions {
 public:
  explicit GpuDefinitions(Definitions& run) : run_(run) {}
  std::uint32_t region(const std::string& name, const char* group, RegionRole role,
                       const std::string& canonical);
  // A string: the name of a region.
  std::uint32_t region_name(std::uint32_t region) { return string(run_.regions[region].name); }
  std::uint32_t string(const std::string& text);
  // Of the calls' events; made when they are asked for first.
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
  std::optional<std::uint64_t> queue_ns{};  // from the begin of its call; its call may be unknown
  std::optional<std::uint64_t> bytes{};
};

class GpuTimeline {
 public:
  // The times in which the process lived, which no event leaves.
  struct Life {
    Timestamp begin{};
    Timestamp end{};
  };
  struct Queue {
    std::string name;
    std::vector<GpuWork> works{};  // in order of time, none begins before the end of the one before
  };

  GpuTimeline(const spool::GpuData& data, const spool::ProcessDefinitions& process,
              const ProcessClock& clock, const Life& life, GpuDefinitions& definitions);

  const std::vector<Queue>& queues() const noexcept { return queues_; }
  // The calls of the thread with that index in the process.
  std::span<const GpuCall> calls_of(std::uint32_t thread) const noexcept;
  // Threads of which only their calls are known.
  struct NativeThread {
    std::string name;
    std::uint64_t id;
    std::vector<GpuCall> calls{};
  };
  const std::vector<NativeThread>& native_threads() const noexcept { return native_; }

  GpuCallIds call_ids() const noexcept { return call_ids_; }
  std::uint32_t queue_metric() const noexcept { return queue_metric_; }
  std::uint32_t bytes_metric() const noexcept { return bytes_metric_; }
  // In which a device was at work, over all devices.
  std::uint64_t busy_ns() const noexcept { return busy_ns_; }
  std::uint64_t devices() const noexcept { return devices_; }
  std::uint64_t lost() const noexcept { return lost_; }
  bool left() const noexcept { return left_; }

 private:
  // What a call has started.
  struct Started {
    std::uint32_t region = 0;
    std::uint64_t gpu_ns = 0;
    std::uint32_t works = 0;
    bool various = false;  // works of several names
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
