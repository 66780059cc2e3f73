// The activity of the GPUs of one process, with the run's ids and times: the calls of each thread,
// the work of each queue, and the call that caused each piece of work.
//
// Built by one thread, then constant and readable from any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/definitions.hpp"
#include "spool/gpu_reader.hpp"
#include "spool/reader.hpp"
#include "weave/gpu/gpu_calls.hpp"
#include "weave/gpu/gpu_counters.hpp"
#include "weave/gpu/gpu_idle.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

// Adds the definitions that events of GPUs refer to, each once.
class GpuDefinitions {
 public:
  explicit GpuDefinitions(Definitions& run)
      : run_(run), first_region_(static_cast<std::uint32_t>(run.regions.size())) {}
  std::uint32_t region(const std::string& name, const char* group, RegionRole role,
                       const std::string& canonical);
  const Region& region(std::uint32_t id) const { return run_.regions[id]; }
  std::uint32_t string(const std::string& text);
  // `name`: a constant of gpu_names.hpp.
  std::uint32_t metric(const char* name, const char* unit);
  std::uint32_t parameter(const char* name);  // of strings
  // All regions of calls have at least this id.
  std::uint32_t first_region() const noexcept { return first_region_; }

 private:
  Definitions& run_;
  std::map<std::string, std::uint32_t> regions_;  // by group and canonical name
  std::map<std::string, std::uint32_t> strings_;
  std::unordered_map<const char*, std::uint32_t> known_;  // metrics and parameters, by address
  const std::uint32_t first_region_;
};

struct GpuWork {
  Timestamp start{};
  Timestamp end{};
  std::uint32_t region = 0;
  std::optional<std::uint64_t> queue_ns{};  // from the start of its call, which may be unknown
  std::optional<std::uint64_t> bytes{};
  // A copy from or to memory of the host: kRmaGet or kRmaPut.
  std::optional<EventKind> copy{};
};

// A device, as one process used it.
struct GpuDeviceUse {
  std::uint32_t device = 0;
  std::string name{};
  std::uint64_t memory = 0;    // bytes that it has
  std::uint64_t peak = 0;      // bytes of it that the process held at most
  std::uint64_t works = 0;     // kernels, copies and sets
  std::uint64_t busy_ns = 0;   // in which at least one queue was busy
  std::uint64_t waits_ns = 0;  // idle, while the thread that gave it the next work made no call
};

class GpuTimeline {
 public:
  // The lifetime of the process; no event lies outside it.
  struct Life {
    Timestamp begin{};
    Timestamp end{};
  };
  // A thread: its index, or its place in native_threads(). At most one of them is known.
  struct Thread {
    std::optional<std::uint32_t> index{};
    std::optional<std::size_t> native{};
  };
  struct Queue {
    std::string name;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::vector<GpuWork> works{};  // in order of time; none starts before the one before it has
                                   // ended
    Thread feeder{};               // that has started most of the works
  };

  GpuTimeline(const spool::GpuData& data, const spool::ProcessDefinitions& process,
              const ProcessClock& clock, const Life& life, GpuDefinitions& definitions);

  const std::vector<Queue>& queues() const noexcept { return queues_; }
  // The parameters and metrics of all calls.
  std::span<const GpuFact> facts() const noexcept { return facts_; }
  // Threads that are known by their GPU calls only.
  struct NativeThread {
    std::string name;
    std::uint64_t id;
    std::vector<GpuCall> calls{};
  };
  const std::vector<NativeThread>& native_threads() const noexcept { return native_; }
  // Ranges that the program has named. They need not lie inside functions, nor in each other: the
  // ranges of a lane do.
  struct Lane {
    std::string name;
    Thread feeder{};  // of the ranges
    std::vector<GpuCall> ranges{};
  };
  const std::vector<Lane>& lanes() const noexcept { return lanes_; }

  // Each has a location of its own.
  const std::vector<GpuDeviceCounters>& counters() const noexcept { return counters_; }

  PendingGpuCalls pending_calls(std::uint32_t thread) const noexcept;
  PendingGpuIdle pending_idle(std::uint32_t thread) const noexcept;
  GpuIdleStream::Ids idle_ids() const noexcept { return idle_ids_; }
  std::uint32_t queue_metric() const noexcept { return queue_metric_; }
  std::uint32_t bytes_metric() const noexcept { return bytes_metric_; }
  const std::vector<GpuDeviceUse>& devices() const noexcept { return devices_; }
  std::uint64_t lost() const noexcept { return lost_; }
  bool left() const noexcept { return left_; }

 private:
  // The work that a call has started.
  struct Started {
    std::uint32_t region = 0;
    std::uint64_t gpu_ns = 0;
    std::uint32_t works = 0;
    bool various = false;     // the works have different names
    std::uint32_t graph = 0;  // that the call started
  };
  struct Building;

  void add_work(const spool::GpuRecord& record, Building& building);
  void add_call(const spool::GpuRecord& record, Building& building);
  void add_facts(GpuCall& call, std::uint32_t correlation, Building& building);
  void find_feeders(const Building& building);
  void put_queues_in_order();
  void add_ranges(Building& building);
  void add_label(GpuCall& range, std::uint32_t label, Building& building);
  void measure_devices(Building& building);
  void add_gaps(GpuDeviceUse& device, const std::vector<GpuSpan>& gaps, Building& building);

  std::vector<Queue> queues_;
  std::map<std::uint32_t, std::vector<GpuCall>> calls_;  // by index of the thread
  std::vector<NativeThread> native_;
  std::vector<Lane> lanes_;
  std::vector<GpuDeviceCounters> counters_;
  std::vector<GpuFact> facts_;
  std::map<std::uint32_t, std::vector<GpuIdle>> idle_;  // by index of the thread
  GpuIdleStream::Ids idle_ids_{};
  std::uint32_t queue_metric_ = 0;
  std::uint32_t bytes_metric_ = 0;
  std::vector<GpuDeviceUse> devices_;
  std::uint64_t lost_ = 0;
  bool left_ = false;
};

}  // namespace timeloom::weave
