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

struct Loaded {
  SettingOf<SettingType::kBool> setting;
  const char* variable;
  const char* library;
  const char* what;
};
constexpr Loaded kLoaded[] = {
    {kSettings.gpu, "CUDA_INJECTION64_PATH", "libtimeloom-cuda.so", "the GPU"},
    {kSettings.gpu, "NVTX_INJECTION64_PATH", "libtimeloom-cuda.so", "NVTX"},
    {kSettings.kokkos, kKokkosVariable, kKokkosLibrary, "Kokkos"},
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
    if (settings.flag(one.setting)) load(one);
  }
}

}  // namespace timeloom::python
