#include "python/launch/loaded_recorders.hpp"

#include <cstdlib>
#include <string>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/launch/follow.hpp"
#include "python/launch/preload.hpp"
#include "settings/wrappers.hpp"

namespace timeloom::python {
namespace {

constexpr char kGpuRecordsVariable[] = "TIMELOOM_GPU_RECORDS";  // src/gpu/cuda reads it

struct Loaded {
  bool (*wanted)(const Settings& settings);
  const char* variable;
  const char* library;
  const char* what;
};

bool wants_gpu(const Settings& settings) {
  return settings.flag(kSettings.gpu) || !settings.text(kSettings.gpu_records).empty();
}
bool wants_kokkos(const Settings& settings) { return settings.flag(kSettings.kokkos); }

constexpr Loaded kLoaded[] = {
    {wants_gpu, "CUDA_INJECTION64_PATH", "libtimeloom-cuda.so", "the GPU"},
    {wants_gpu, "NVTX_INJECTION64_PATH", "libtimeloom-cuda.so", "NVTX"},
    {wants_kokkos, kKokkosVariable, kKokkosLibrary, "Kokkos"},
};

void load(const Loaded& one) {
  const std::string ours = beside_recorder(one.library);
  const char* const value = std::getenv(one.variable);
  const std::string present = value == nullptr ? "" : value;
  const std::string not_recorded = std::string(one.what) + " is not recorded: ";
  if (ours.empty()) {
    print_line(not_recorded + "this Timeloom has no library for it [TL026]");
  } else if (!present.empty() && !present.ends_with(one.library)) {
    print_line(not_recorded + one.variable + " names the library of another tool, " + present +
               "; unset it [TL027]");
  } else if (!set_for_children(one.variable, ours)) {
    PyErr_Clear();
  }
}

}  // namespace

void load_recorders(const Settings& settings) {
  if (settings.text(kSettings.results) == "none") return;
  for (const Loaded& one : kLoaded) {
    if (one.wanted(settings)) load(one);
  }
  const std::string records = settings.text(kSettings.gpu_records);
  if (!records.empty() && !set_for_children(kGpuRecordsVariable, records)) PyErr_Clear();
}

}  // namespace timeloom::python
