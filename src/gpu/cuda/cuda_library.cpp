#include "gpu/cuda/cuda_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace timeloom::cuda {
namespace {

// CUPTI supports drivers of its own major version of CUDA and of later ones.
constexpr int kOldestMajor = 12;
constexpr int kNewestMajor = 13;

std::string library_name(int major) { return "libcupti.so." + std::to_string(major); }

// The driver's version of CUDA, 12040 for 12.4; 0: not known.
int driver_version() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  int version = 0;
  const auto get = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDriverGetVersion"));
  const bool known = get != nullptr && get(&version) == 0;
  ::dlclose(driver);
  return known ? version : 0;
}

int driver_major() { return driver_version() / 1000; }

// Libraries that are newer than the driver do not count.
std::string reason_without_library() {
  const int version = driver_version(), major = version / 1000;
  if (version == 0 || major >= kNewestMajor) {
    return "there is no libcupti.so; install the package nvidia-cuda-cupti";
  }
  const std::string driver =
      "the driver has CUDA " + std::to_string(major) + "." + std::to_string(version % 1000 / 10);
  if (major < kOldestMajor)
    return driver + "; " + std::to_string(kOldestMajor) + " or later is needed";
  return driver + ": there is no " + library_name(major) +
         "; install the package nvidia-cuda-cupti-cu" + std::to_string(major);
}

std::string directory_of(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : file.substr(0, slash));
}

// The directories of the program's CUDA, and of the packages beside this library (timeloom/lib in
// the same directory as nvidia).
std::vector<std::string> directories() {
  std::vector<std::string> found;
  const auto add = [&](const std::string& directory) {
    found.push_back(directory);
    found.push_back(directory + "/../../cuda_cupti/lib");   // a package of CUDA 12
    found.push_back(directory + "/../extras/CUPTI/lib64");  // the toolkit
  };
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const std::string_view file = name.substr(name.rfind('/') + 1);
        if (file.starts_with("libcudart") || file.starts_with("libnvrtc")) {
          (*static_cast<decltype(add)*>(data))(directory_of(name));
        }
        return 0;
      },
      const_cast<void*>(static_cast<const void*>(&add)));
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&load_cupti), &own) != 0) {
    const std::string packages = directory_of(own.dli_fname) + "/../../nvidia";
    found.push_back(packages + "/cu13/lib");
    found.push_back(packages + "/cuda_cupti/lib");
  }
  found.emplace_back("/usr/local/cuda/lib64");
  found.emplace_back("/usr/local/cuda/extras/CUPTI/lib64");
  return found;
}

void* loaded_cupti() {
  for (int major = kNewestMajor; major >= kOldestMajor; --major) {
    void* const library = ::dlopen(library_name(major).c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) return library;
  }
  return nullptr;
}

void* open_cupti() {
  if (void* const library = loaded_cupti()) return library;
  const int newest = driver_major() == 0 ? kNewestMajor : driver_major();
  for (int major = newest; major >= kOldestMajor; --major) {
    for (const std::string& directory : directories()) {
      const std::string path = directory + "/" + library_name(major);
      if (void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
    if (void* const library = ::dlopen(library_name(major).c_str(), RTLD_NOW)) return library;
  }
  return nullptr;
}

template <typename Function>
void find(void* library, const char* name, Function*& function, std::string& missing) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace

bool load_cupti(Functions& f, std::string& reason) {
  void* const library = open_cupti();
  if (library == nullptr) {
    reason = reason_without_library();
    return false;
  }
  std::string missing;
  const auto add = [&](auto& function, const char* name) {
    find(library, name, function, missing);
  };
  add(f.register_timestamp, "cuptiActivityRegisterTimestampCallback");
  add(f.register_callbacks, "cuptiActivityRegisterCallbacks");
  add(f.enable, "cuptiActivityEnable");
  add(f.disable, "cuptiActivityDisable");
  add(f.next_record, "cuptiActivityGetNextRecord");
  add(f.dropped_records, "cuptiActivityGetNumDroppedRecords");
  add(f.flush_all, "cuptiActivityFlushAll");
  add(f.flush_period, "cuptiActivityFlushPeriod");
  add(f.call_name, "cuptiGetCallbackName");
  if (missing.empty()) return true;
  reason = "this libcupti.so has no " + missing + "; CUDA 12 or later is needed";
  return false;
}

}  // namespace timeloom::cuda
