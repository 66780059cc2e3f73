// Selects the CUDA calls that are recorded, and gives them names. Calls that only query, or select
// the current device, are not recorded: frameworks make several of them for each kernel.
//
// Pure functions, for any thread. Nothing throws.
#pragma once

#include <string_view>

namespace timeloom::cuda {

// The name without the version that CUPTI adds: cudaLaunchKernel for cudaLaunchKernel_v7000.
constexpr std::string_view call_name(std::string_view name) {
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos || mark + 2 == name.size()) return name;
  const std::string_view digits = name.substr(mark + 2);
  // cuMemcpyHtoD_v2 is the driver's own name.
  if (digits.size() < 4 || digits.find_first_not_of("0123456789") != digits.npos) return name;
  return name.substr(0, mark);
}

constexpr bool is_recorded(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {
      "cudaGet",        "cudaPeek",        "cudaDeviceGet",    "cudaSetDevice",
      "cudaStreamGet",  "cudaStreamIs",    "cudaFuncGet",      "cudaFuncSet",
      "cudaOccupancy",  "cudaPointerGet",  "cudaMemGetInfo",   "cudaDriverGet",
      "cudaRuntime",    "cudaEventCreate", "cudaEventDestroy", "cudaThreadExchange",
      "cuGet",          "cuDeviceGet",     "cuDeviceTotal",    "cuDevicePrimary",
      "cuCtx",          "cuFuncGet",       "cuFuncSet",        "cuModuleGet",
      "cuLibraryGet",   "cuKernelGet",     "cuPointerGet",     "cuOccupancy",
      "cuStreamGet",    "cuStreamIs",      "cuThreadExchange", "cuMemGet",
      "cuEventCreate",  "cuEventDestroy",  "cuKernelSet",      "cuTensorMap",
      "cudaLibraryGet", "cuDriverGet"};
  if (name.starts_with("cuCtxSynchronize")) return true;
  for (const std::string_view beginning : kBeginnings) {
    if (name.starts_with(beginning)) return false;
  }
  return true;
}

}  // namespace timeloom::cuda
