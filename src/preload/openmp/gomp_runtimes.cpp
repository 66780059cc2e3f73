#include "preload/openmp/gomp_runtimes.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "preload/common/library_name.hpp"
#include "preload/common/loaded_symbols.hpp"

namespace timeloom::openmp {
namespace {

using preload::LoadedLibrary;

constexpr const char* kNames[] = {
#define TIMELOOM_GOMP(NAME) "GOMP_" #NAME,
#include "preload/openmp/gomp_functions.inc"
#undef TIMELOOM_GOMP
};
static_assert(sizeof kNames / sizeof kNames[0] == kGompFunctions);

constexpr char kParallel[] = "GOMP_parallel";
constexpr std::size_t kBuckets = 1024;

constinit std::atomic<Runtime*> g_runtimes = nullptr;
constinit std::array<std::atomic<Place*>, kBuckets> g_places{};

void push(std::atomic<Runtime*>& head, Runtime* one) noexcept {
  one->next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(one->next, one, std::memory_order_release)) {
  }
}

const void* own_code() noexcept { return reinterpret_cast<const void*>(&place_of); }

void set_name(Runtime& runtime, const char* file) noexcept try {
  std::snprintf(runtime.name, sizeof runtime.name, "%s", preload::short_name(file).c_str());
} catch (const std::bad_alloc&) {
  std::snprintf(runtime.name, sizeof runtime.name, "OpenMP");
}

// Older than the program, which does not call it then: the linker has compared the versions.
[[noreturn]] void lacks_function() noexcept {
  std::fputs("timeloom: the OpenMP runtime lacks a function that the program calls\n", stderr);
  std::abort();
}

Runtime* make_runtime(const LoadedLibrary& library) noexcept {
  auto* const made = new (std::nothrow) Runtime{};
  if (made == nullptr) return nullptr;
  made->identity = library.find(kParallel);
  set_name(*made, library.file());
  made->thread_number = reinterpret_cast<unsigned (*)()>(library.find("omp_get_thread_num"));
  made->unrecorded = library.find("__kmpc_fork_call") != nullptr || made->thread_number == nullptr;
  for (std::size_t i = 0; i < kGompFunctions; ++i) {
    void* found = library.find(kNames[i]);
    if (found == nullptr) found = ::dlsym(RTLD_NEXT, kNames[i]);
    made->functions[i] = found != nullptr ? found : reinterpret_cast<void*>(&lacks_function);
  }
  return made;
}

// nullptr: the library is none, or there is no memory. Of two threads that make the same, both keep
// theirs.
Runtime* runtime_in(const LoadedLibrary& library) noexcept {
  const void* const identity = library ? library.find(kParallel) : nullptr;
  if (identity == nullptr || library == LoadedLibrary::around(own_code())) return nullptr;
  Runtime* one = g_runtimes.load(std::memory_order_acquire);
  while (one != nullptr && one->identity != identity) one = one->next;
  if (one != nullptr) return one;
  Runtime* const made = make_runtime(library);
  if (made != nullptr) push(g_runtimes, made);
  return made;
}

Runtime* runtime_around(const void* address) noexcept {
  return address == nullptr ? nullptr : runtime_in(LoadedLibrary::around(address));
}

struct Imports {
  bool any = false;          // of OpenMP
  Runtime* bound = nullptr;  // to which the linker has bound one that is not wrapped
};

Imports imports_of(const LoadedLibrary& library) noexcept {
  Imports imports;
  library.each_import([&](std::string_view name, const void* address) {
    if (!name.starts_with("GOMP_") && !name.starts_with("omp_")) return true;
    imports.any = true;
    if (!(LoadedLibrary::around(address) == library)) imports.bound = runtime_around(address);
    return imports.bound == nullptr;
  });
  return imports;
}

// As the linker will bind the library's functions when they are called: it prefers libraries that
// are visible to all.
Runtime* runtime_to_be_bound(const LoadedLibrary& library) noexcept {
  if (Runtime* const found = runtime_around(::dlsym(RTLD_NEXT, kParallel))) return found;
  if (*library.file() == '\0') return nullptr;
  void* const handle = ::dlopen(library.file(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  Runtime* const found = runtime_around(::dlsym(handle, kParallel));
  ::dlclose(handle);
  return found;
}

Runtime* find_runtime(const void* address) noexcept {
  const LoadedLibrary library = LoadedLibrary::around(address);
  if (!library || library == LoadedLibrary::around(own_code())) return nullptr;
  const Imports imports = imports_of(library);
  if (imports.bound != nullptr) return imports.bound;
  if (Runtime* const itself = runtime_in(library)) return itself;
  return imports.any ? runtime_to_be_bound(library) : nullptr;
}

Place& add_place(std::atomic<Place*>& head, const void* address) noexcept {
  static constinit Place none{nullptr, nullptr, {}, nullptr};
  auto* const made = new (std::nothrow) Place{address, find_runtime(address), {}, nullptr};
  if (made == nullptr) return none;
  made->next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(made->next, made, std::memory_order_release)) {
  }
  return *made;
}

// Code that belongs to no known runtime calls one for the first time.
Runtime* any_runtime() noexcept {
  if (Runtime* const first = g_runtimes.load(std::memory_order_acquire)) return first;
  if (Runtime* const found = runtime_around(::dlsym(RTLD_NEXT, kParallel))) return found;
  return runtime_in(LoadedLibrary::that_defines(kParallel, own_code()));
}

}  // namespace

Place& place_of(const void* address) noexcept {
  std::atomic<Place*>& head = g_places[(reinterpret_cast<std::uintptr_t>(address) >> 2) % kBuckets];
  for (Place* one = head.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (one->address == address) return *one;
  }
  return add_place(head, address);
}

Runtime& runtime_at(const Place& place, Runtime* present) noexcept {
  if (place.runtime != nullptr) [[likely]]
    return *place.runtime;
  if (present != nullptr) return *present;
  Runtime* const found = any_runtime();
  if (found == nullptr) lacks_function();
  return *found;
}

}  // namespace timeloom::openmp
