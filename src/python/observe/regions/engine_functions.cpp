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
// Packages and modules that a Python worker of Spark calls for itself.
constexpr std::string_view kOfSpark[] = {"pyspark", "py4j"};
// These are __main__ there.
constexpr std::string_view kMainOfSpark[] = {"/pyspark/daemon.py", "/pyspark/worker.py"};

bool g_is_spark_worker = false;

bool is_inside(std::string_view module, std::string_view package) {
  return module.starts_with(package) &&
         (module.size() == package.size() || module[package.size()] == '.');
}

bool is_imported(const char* module) noexcept {
  return PyDict_GetItemString(PyImport_GetModuleDict(), module) != nullptr;
}

bool is_of_spark(const std::string& module, const std::string& file) {
  if (!g_is_spark_worker) return is_inside(module, "py4j");
  const auto matches = [&](std::string_view package) { return is_inside(module, package); };
  const auto ends = [&](std::string_view main) { return file.ends_with(main); };
  return std::ranges::any_of(kOfSpark, matches) ||
         (module == "__main__" && std::ranges::any_of(kMainOfSpark, ends));
}

}  // namespace

bool is_of_engine(const std::string& module, const std::string& file) noexcept {
  const auto matches = [&](std::string_view package) { return is_inside(module, package); };
  return (std::ranges::any_of(kOfDask, matches) && is_imported("distributed")) ||
         (std::ranges::any_of(kOfRay, matches) && is_imported("ray")) || is_of_spark(module, file);
}

void become_spark_worker() noexcept { g_is_spark_worker = true; }

bool is_spark_worker() noexcept { return g_is_spark_worker; }

}  // namespace timeloom::python
