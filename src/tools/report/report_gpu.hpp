// `timeloom report --gpu`: what ran on the GPUs, by kernel and copy, and by the function of the
// program that started it.
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

// A kernel, or a kind of copy.
struct GpuWorkRow {
  RegionId region;
  std::uint64_t times = 0;     // that it ran
  std::uint64_t ticks = 0;     // on the GPU
  std::uint64_t queue_ns = 0;  // from the calls to its begins
  std::uint64_t queued = 0;    // times of which that is known
  std::uint64_t bytes = 0;
};

// A function of the program, by all that its calls have started.
struct GpuCallerRow {
  RegionId region;               // undefined: no function around the call is known
  std::uint64_t calls = 0;       // that started something
  std::uint64_t gpu_ns = 0;      // time on the GPU of that
  std::uint64_t call_ticks = 0;  // time in all its calls
  std::string most{};            // the kernel or copy with most of the time; empty: of a graph
  std::uint64_t most_ns = 0;
};

struct GpuFacts {
  std::optional<double> busy;  // share of the run in which a device worked, on average over devices
  std::vector<GpuWorkRow> kernels;    // by time, the most first
  std::vector<GpuWorkRow> copies;     // the same
  std::vector<GpuCallerRow> callers;  // the same
  std::uint64_t waiting_ticks = 0;    // in calls that wait for a GPU
  bool any() const { return !kernels.empty() || !copies.empty() || !callers.empty(); }
};

// The share of the run in which GPUs were at work, on average; none: none was recorded.
std::optional<double> gpu_busy(const Definitions& definitions);

GpuFacts gpu_facts(const profile::CallTree& tree);

void write_gpu(const GpuFacts& facts, const Definitions& definitions, const Terminal& terminal,
               Output& output);
void write_gpu_json(const GpuFacts& facts, const Definitions& definitions, Output& output);

}  // namespace timeloom::tools
