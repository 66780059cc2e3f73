#include "settings/openmp_runtime.hpp"

#include <dlfcn.h>

#include <vector>

namespace timeloom {
namespace {

constexpr char kOfThatRuntime[] = "__kmpc_fork_call";

std::string file_if_runtime(const std::string& name) {
  void* const library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  Dl_info info{};
  void* const function = ::dlsym(library, kOfThatRuntime);
  const bool found = function != nullptr && ::dladdr(function, &info) != 0;
  std::string file = found ? info.dli_fname : "";
  ::dlclose(library);
  return file;
}

}  // namespace

std::string llvm_openmp_file(std::span<const std::string> directories) {
  std::vector<std::string> places = {""};
  for (const std::string& one : directories) places.push_back(one + "/");
  for (const std::string& place : places) {
    for (const std::string_view name : kLlvmOpenMp) {
      std::string file = file_if_runtime(place + std::string(name));
      if (!file.empty()) return file;
    }
  }
  return {};
}

}  // namespace timeloom
