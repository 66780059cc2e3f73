// `timeloom report --gpu`: the work of GPUs, by kernel and copy, and by the function of the program
// that started it; the waiting of both sides for each other, and the memory of devices.
//
// Plain values made from a CallTree, which must outlive them; used by one thread. write_*() throw
// Error as Output does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// A kernel, a kind of copy, or a range that the program has named.
struct GpuWorkRow {
  RegionId region;
  std::uint64_t times = 0;     // that it ran
  std::uint64_t ticks = 0;     // on the GPU
  std::uint64_t queue_ns = 0;  // from the calls to its starts
  std::uint64_t queued = 0;    // times of which that is known
  std::uint64_t bytes = 0;
};

// A function of the program, by all that its calls have started.
struct GpuCallerRow {
  RegionId region;               // undefined: no function around the call is known
  std::uint64_t calls = 0;       // that started something
  std::uint64_t gpu_ns = 0;      // time on the GPU of that work
  std::uint64_t call_ticks = 0;  // time in all its calls
  std::string most{};            // the kernel or copy with most of the time; empty: of a graph
  std::uint64_t most_ns = 0;
};

// A graph, by all calls that have started it.
struct GpuGraphRow {
  std::string name{};
  std::uint64_t launches = 0;
  std::uint64_t gpu_ns = 0;
};

// The waiting of calls in a function.
struct GpuWaitRow {
  RegionId region;     // as in GpuCallerRow
  std::string what{};  // the stream or event for which they waited; empty: not known
  std::uint64_t times = 0;
  std::uint64_t ns = 0;
};

// The time in which a device was idle and its thread was in a region, without the regions inside.
struct GpuIdleRow {
  RegionId region;
  bool in_call = false;  // of the GPU's library
  std::uint64_t ns = 0;
};

// Memory of devices that a function allocated, in bytes.
struct GpuMemoryRow {
  RegionId region;  // as in GpuCallerRow
  std::uint64_t calls = 0;
  std::uint64_t allocated = 0;
  std::uint64_t at_peak = 0;  // held when the device held most
  std::uint64_t at_end = 0;   // never released
};

// A call path of the program; its times and bytes mean the same as in the rows by function.
struct GpuPathRow {
  profile::NodeId node;  // undefined: no function around the calls is known
  std::uint64_t starts = 0, gpu_ns = 0, wait_ns = 0, idle_ns = 0, allocated = 0, at_peak = 0;
};

// A device, as one process used it.
struct GpuDeviceRow {
  std::string process{};
  std::uint64_t device = 0;
  std::uint64_t works = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t waits_ns = 0;  // idle, and its thread was not in a call
  std::uint64_t peak = 0;      // bytes that the process held at most
  std::uint64_t memory = 0;    // bytes of the device
  std::string name{};
};

// A counter of a device, as one process has read it.
struct GpuCounterRow {
  std::string process{};
  std::uint64_t device = 0;
  std::string counter{};  // the name of the metric
  std::string unit{};
  std::uint64_t values = 0;
  double mean = 0;
  std::uint64_t most = 0;
};

struct GpuFacts {
  std::optional<double> busy;  // share of the run in which a device worked, on average over devices
  std::optional<double> waits;  // share in which it was idle and its thread not in a call
  std::vector<GpuDeviceRow> devices;
  std::vector<GpuCounterRow> counters;
  std::vector<GpuWorkRow> kernels;    // by time, the most first
  std::vector<GpuWorkRow> copies;     // the same
  std::vector<GpuCallerRow> callers;  // the same
  std::vector<GpuGraphRow> graphs;    // the same
  std::vector<GpuWaitRow> waiting;    // the same
  std::vector<GpuIdleRow> idle;       // the same
  std::vector<GpuMemoryRow> memory;   // by bytes at the peak
  std::vector<GpuPathRow> paths;      // in the order of the call tree
  double waiting_seconds = 0;         // in calls that wait for a GPU
  std::vector<GpuWorkRow> ranges;     // the same
  bool any() const {
    return !kernels.empty() || !copies.empty() || !callers.empty() || !ranges.empty();
  }
};

// The shares of the run for heads of reports; empty: no GPU was recorded.
std::string gpu_shares(const Definitions& definitions);

GpuFacts gpu_facts(const profile::CallTree& tree);

void write_gpu(const GpuFacts& facts, const profile::CallTree& tree, const Terminal& terminal,
               Output& output);
void write_gpu_json(const GpuFacts& facts, const profile::CallTree& tree, Output& output);

}  // namespace timeloom::tools
