// Reads the counters of devices from NVIDIA's NVML, a library of the driver.
//
// Used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/cuda/nvml_interface.hpp"
#include "spool/gpu_format.hpp"

namespace timeloom::cuda {

class NvmlReader {
 public:
  struct Value {
    std::uint32_t device;
    spool::GpuCounter counter;
    std::uint64_t ticks;
    std::uint64_t value;
  };

  NvmlReader() = default;
  ~NvmlReader();
  NvmlReader(const NvmlReader&) = delete;
  NvmlReader& operator=(const NvmlReader&) = delete;

  // Returns false if NVML does not work, with the reason, or is not installed, without one.
  bool open(std::string& reason);
  // From now on the device is read. `id`: CUDA's number of it; `uuid`: NVML's name of it.
  void add(std::uint32_t id, const std::string& uuid, std::string& reason);
  // Reads each counter of all devices once. A counter that a device does not have, or that is
  // refused, is left out from then on; `reason`: of the first that is refused.
  void read(std::vector<Value>& values, std::string& reason);

 private:
  struct Device {
    std::uint32_t id;
    NvmlDevice* device;
    bool without[spool::kGpuCounters] = {};
  };
  bool wants(const Device& device, spool::GpuCounter counter) const noexcept {
    return !device.without[static_cast<std::size_t>(counter)];
  }
  // False: the device does not have the counter.
  static bool works(Device& device, spool::GpuCounter counter, NvmlResult result,
                    std::string& reason);

  NvmlFunctions functions_;
  bool open_ = false;
  std::vector<Device> devices_;
};

}  // namespace timeloom::cuda
