#include "preload/kokkos/kokkos_regions.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "os/thread.hpp"

namespace timeloom::kokkos {
namespace {

struct KindOfRegion {
  const char* file;  // in the place of a source file; keeps regions of different kinds apart
  RegionRole role;
};

// In the order of RegionKind.
constexpr std::array kKinds = {KindOfRegion{"KOKKOS_PARALLEL_FOR", RegionRole::kParallel},
                               KindOfRegion{"KOKKOS_PARALLEL_REDUCE", RegionRole::kParallel},
                               KindOfRegion{"KOKKOS_PARALLEL_SCAN", RegionRole::kParallel},
                               KindOfRegion{"KOKKOS_REGION", RegionRole::kCode},
                               KindOfRegion{"KOKKOS_COPY", RegionRole::kDataTransfer},
                               KindOfRegion{"KOKKOS_FENCE", RegionRole::kBarrier},
                               KindOfRegion{"KOKKOS_MEMORY", RegionRole::kAllocate},
                               KindOfRegion{"KOKKOS_MEMORY", RegionRole::kDeallocate}};
static_assert(kKinds.size() == static_cast<std::size_t>(RegionKind::kDeallocate) + 1);

struct KnownRegion {
  std::string name;
  record::WrappedFunction function;
};

struct Regions {
  std::mutex mutex;
  std::array<std::map<std::string, std::unique_ptr<KnownRegion>, std::less<>>, kKinds.size()> of;
};

// Never destroyed: threads may outlive the static objects of the program.
Regions& regions() noexcept {
  alignas(Regions) static std::byte room[sizeof(Regions)];
  static auto* const kRegions = new (room) Regions;
  return *kRegions;
}

// A child of a fork has no other thread that could give the mutex back.
[[gnu::constructor]] void handle_forks_of_regions() {
  constexpr auto kUnlock = [] { regions().mutex.unlock(); };
  os::at_fork([] { regions().mutex.lock(); }, kUnlock, kUnlock);
}

// Types that a program defines begin so. The names of built-in types are single letters, which a
// user may have given to a kernel.
bool may_be_mangled(std::string_view name) noexcept {
  const auto begins_with = [&](std::string_view one) { return name.starts_with(one); };
  return !name.empty() && ((name.front() >= '0' && name.front() <= '9') || begins_with("N") ||
                           begins_with("Z") || begins_with("St"));
}

// Empty: it is not the mangled name of a type.
std::string demangled(std::string_view name) {
  if (!may_be_mangled(name)) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : std::string();
}

}  // namespace

std::string readable_name(std::string_view name) {
  if (const std::string whole = demangled(name); !whole.empty()) return whole;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::string(name);
  const std::string functor = demangled(name.substr(0, slash));
  if (functor.empty()) return std::string(name);
  const std::string_view rest = name.substr(slash + 1);
  const std::string tag = demangled(rest);
  return functor + "/" + (tag.empty() ? std::string(rest) : tag);
}

record::WrappedFunction* find_region(RegionKind kind, std::string_view name) noexcept try {
  const auto index = static_cast<std::size_t>(kind);
  Regions& all = regions();
  const std::lock_guard lock(all.mutex);
  auto& known = all.of[index];
  const auto found = known.find(name);
  if (found != known.end()) return &found->second->function;
  auto region = std::make_unique<KnownRegion>();
  region->name = readable_name(name);
  region->function = {region->name.c_str(), "Kokkos", kKinds[index].file, Paradigm::kKokkos,
                      kKinds[index].role};
  return &known.emplace(name, std::move(region)).first->second->function;
} catch (const std::exception&) {
  return nullptr;
}

}  // namespace timeloom::kokkos
