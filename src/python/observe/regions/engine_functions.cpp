#include "python/observe/regions/engine_functions.hpp"

#include <algorithm>
#include <string_view>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {
namespace {

// Packages that a scheduler, a nanny or a worker of Dask calls for itself.
constexpr std::string_view kOfDask[] = {"distributed", "tornado", "zict",   "asyncio",
                                        "selectors",   "tblib",   "locket", "cloudpickle",
                                        "psutil",      "msgpack"};
// Packages that a driver or a worker of Ray calls for itself.
constexpr std::string_view kOfRay[] = {"ray",     "grpc",   "asyncio", "selectors",
                                       "msgpack", "psutil", "filelock"};

bool is_inside(std::string_view module, std::string_view package) {
  return module.starts_with(package) &&
         (module.size() == package.size() || module[package.size()] == '.');
}

bool is_imported(const char* module) noexcept {
  return PyDict_GetItemString(PyImport_GetModuleDict(), module) != nullptr;
}

}  // namespace

bool is_of_engine(const std::string& module) noexcept {
  const auto matches = [&](std::string_view package) { return is_inside(module, package); };
  return (std::ranges::any_of(kOfDask, matches) && is_imported("distributed")) ||
         (std::ranges::any_of(kOfRay, matches) && is_imported("ray"));
}

}  // namespace timeloom::python
