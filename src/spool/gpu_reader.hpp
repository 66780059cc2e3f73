// Reads the file `gpu` of a spool, even if the process was killed or still runs: up to the first
// block that is not complete.
//
// A function without state, for any thread; the result is a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spool/gpu_format.hpp"
#include "spool/spool_directory.hpp"

namespace timeloom::spool {

struct GpuDeviceName {
  std::uint32_t id = 0;
  std::string name;
  std::uint64_t memory = 0;
};

struct GpuData {
  std::vector<std::string> texts;   // by id
  std::vector<GpuPlace> places;     // by id
  std::vector<GpuLaunch> launches;  // by id
  std::vector<GpuDeviceName> devices;
  std::vector<GpuLabel> labels;    // by id
  std::vector<GpuRecord> records;  // they refer to defined ids only
  std::uint64_t lost = 0;          // records that could not be kept, or refer to undefined ids
  bool left = false;               // another tool took over before the end
  bool damaged = false;
};

// Empty if there is no such file.
GpuData read_gpu(const SpoolDirectory& directory);

}  // namespace timeloom::spool
