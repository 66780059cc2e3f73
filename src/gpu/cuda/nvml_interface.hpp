// Declarations of the functions of NVIDIA's NVML that Timeloom uses, so that the build does not
// need its header. scripts/check/check_cupti.py compares them with it. Plain declarations.
#pragma once

namespace timeloom::cuda {

using NvmlResult = int;  // nvmlReturn_t
inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr NvmlResult kNvmlNotSupported = 3;

struct NvmlDevice;  // nvmlDevice_t is a pointer to it

struct NvmlUtilization {  // percent of the time of NVML's last sample
  unsigned gpu;
  unsigned memory;
};

struct NvmlMemory {  // bytes
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// The functions of libnvidia-ml.so.1 that are used; nvml_reader.cpp has their names.
struct NvmlFunctions {
  NvmlResult (*init)() = nullptr;
  NvmlResult (*shutdown)() = nullptr;
  NvmlResult (*device)(const char* uuid, NvmlDevice** device) = nullptr;
  NvmlResult (*utilization)(NvmlDevice* device, NvmlUtilization* utilization) = nullptr;
  NvmlResult (*memory)(NvmlDevice* device, NvmlMemory* memory) = nullptr;
  NvmlResult (*power)(NvmlDevice* device, unsigned* milliwatts) = nullptr;
};

}  // namespace timeloom::cuda
