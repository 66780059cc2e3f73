#include "gpu/cuda/nvml_reader.hpp"

#include <dlfcn.h>

#include "os/clock.hpp"

namespace timeloom::cuda {
namespace {

constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

template <typename Function>
void find_nvml(void* library, const char* name, Function*& function, std::string& reason) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr && reason.empty()) {
    reason = std::string(kNvmlLibrary) + " has no " + name;
  }
}

std::string refusal(const std::string& what, NvmlResult result) {
  return "NVML refuses " + what + " (" + std::to_string(result) + ")";
}

constexpr const char* kCounterWords[] = {"the utilisation", "the utilisation of memory",
                                         "the memory in use", "the power"};

}  // namespace

NvmlReader::~NvmlReader() {
  if (open_) (void)functions_.shutdown();
}

bool NvmlReader::open(std::string& reason) {
  void* const library = ::dlopen(kNvmlLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  find_nvml(library, "nvmlInit_v2", functions_.init, reason);
  find_nvml(library, "nvmlShutdown", functions_.shutdown, reason);
  find_nvml(library, "nvmlDeviceGetHandleByUUID", functions_.device, reason);
  find_nvml(library, "nvmlDeviceGetUtilizationRates", functions_.utilization, reason);
  find_nvml(library, "nvmlDeviceGetMemoryInfo", functions_.memory, reason);
  find_nvml(library, "nvmlDeviceGetPowerUsage", functions_.power, reason);
  if (!reason.empty()) return false;
  const NvmlResult result = functions_.init();
  if (result != kNvmlSuccess) reason = refusal("to start", result);
  return open_ = result == kNvmlSuccess;
}

void NvmlReader::add(std::uint32_t id, const std::string& uuid, std::string& reason) {
  NvmlDevice* device = nullptr;
  const NvmlResult result = functions_.device(uuid.c_str(), &device);
  if (result == kNvmlSuccess) return devices_.push_back({id, device});
  reason = refusal("the device " + uuid, result);
}

bool NvmlReader::works(Device& device, spool::GpuCounter counter, NvmlResult result,
                       std::string& reason) {
  if (result == kNvmlSuccess) return true;
  const auto index = static_cast<std::size_t>(counter);
  device.without[index] = true;
  if (result != kNvmlNotSupported && reason.empty()) reason = refusal(kCounterWords[index], result);
  return false;
}

void NvmlReader::read(std::vector<Value>& values, std::string& reason) {
  using enum spool::GpuCounter;
  for (Device& device : devices_) {
    const std::uint64_t now = os::now();
    const auto add = [&](spool::GpuCounter counter, NvmlResult result, std::uint64_t value) {
      if (works(device, counter, result, reason))
        values.push_back({device.id, counter, now, value});
    };
    if (wants(device, kUse)) {
      NvmlUtilization use{};
      const NvmlResult result = functions_.utilization(device.device, &use);
      add(kUse, result, use.gpu);
      add(kMemoryUse, result, use.memory);
    }
    if (wants(device, kMemory)) {
      NvmlMemory memory{};
      const NvmlResult result = functions_.memory(device.device, &memory);
      add(kMemory, result, memory.used);
    }
    if (wants(device, kPower)) {
      unsigned milliwatts = 0;
      const NvmlResult result = functions_.power(device.device, &milliwatts);
      add(kPower, result, milliwatts);
    }
  }
}

}  // namespace timeloom::cuda
