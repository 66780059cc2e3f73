// The memory of devices that a process holds: the bytes of each call that allocates, the peak of
// each device, and the blocks that were held then and at the end.
//
// Built by one thread from the records of a process, then constant. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "spool/gpu_reader.hpp"

namespace timeloom::weave {

// The bytes of a call on a device, without memory of the host that a GPU can reach.
struct GpuMemoryOfCall {
  std::uint64_t held = 0;       // by the device, after the call
  std::uint64_t allocated = 0;  // by the call
  std::uint64_t at_peak = 0;    // of these, held when the device held most
  std::uint64_t at_end = 0;     // of these, never released
};

class GpuMemoryUse {
 public:
  explicit GpuMemoryUse(const spool::GpuData& data);
  // nullptr: the call does not change the memory of a device.
  const GpuMemoryOfCall* of(std::uint32_t correlation) const;
  const std::map<std::uint32_t, std::uint64_t>& peaks() const noexcept { return peaks_; }

 private:
  struct Block {
    std::uint64_t bytes;
    std::uint32_t correlation;
    std::size_t since, until;  // places in the order of records
  };
  struct Device;

  void close(const Device& device, std::uint32_t id);

  std::unordered_map<std::uint32_t, GpuMemoryOfCall> calls_;  // by correlation
  std::map<std::uint32_t, std::uint64_t> peaks_;              // by device
};

}  // namespace timeloom::weave
