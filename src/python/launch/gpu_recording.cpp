#include "python/launch/gpu_recording.hpp"

#include <cstdlib>
#include <string>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/say.hpp"
#include "python/launch/follow.hpp"
#include "python/launch/preload.hpp"

namespace timeloom::python {
namespace {

constexpr char kVariable[] = "CUDA_INJECTION64_PATH";
constexpr char kLibrary[] = "libtimeloom-cuda.so";

}  // namespace

void load_gpu_recorder(const Settings& settings) {
  if (!settings.flag(kSettings.gpu) || settings.text(kSettings.results) == "none") return;
  const std::string ours = beside_recorder(kLibrary);
  const char* const value = std::getenv(kVariable);
  const std::string present = value == nullptr ? "" : value;
  if (ours.empty()) {
    say("the GPU is not recorded: this Timeloom has no library for it");
  } else if (!present.empty() && !present.ends_with(kLibrary)) {
    say("the GPU is not recorded: CUDA_INJECTION64_PATH names the library of another tool, " +
        present + "; unset it");
  } else if (!set_for_children(kVariable, ours)) {
    PyErr_Clear();
  }
}

}  // namespace timeloom::python
