#include "preload/mpi/mpi_library.hpp"

#include <dlfcn.h>

#include <cstdio>

#include "preload/common/loaded_symbols.hpp"

namespace timeloom::mpi {
namespace {

struct Names {
  const char* mpi;   // MPI_Send
  const char* pmpi;  // PMPI_Send
};

constexpr Names kNames[] = {
#define TIMELOOM_MPI(NAME, ...) {"MPI_" #NAME, "PMPI_" #NAME},
#define TIMELOOM_MPI_LATE TIMELOOM_MPI
#define TIMELOOM_MPI_ALWAYS TIMELOOM_MPI
#define TIMELOOM_MPI_LATE_ALWAYS TIMELOOM_MPI
#include "preload/mpi/functions.inc"
};
static_assert(sizeof kNames / sizeof kNames[0] == kFunctions);

// The recorded library. Written once, by the first thread; all threads would find the same.
struct Found {
  LoadedLibrary library;
  Abi abi{};
  std::atomic<int> state = 0;  // 0 not searched, 1 being written, 2 known, 3 of an unknown kind
};
constinit Found g_found;

constinit std::atomic<bool> g_several = false;  // see passes()

constexpr char kInit[] = "PMPI_Init";

// Only finds the library: it also runs while symbols are bound, when functions of the library must
// not be called. Takes the first of several.
LoadedLibrary search() noexcept {
  const LoadedLibrary library = LoadedLibrary::that_defines(kInit);
  return library ? library : LoadedLibrary::that_defines(kInit + 1, &g_found);
}

// The first caller writes. False: another thread did.
bool set_found(const LoadedLibrary& library) noexcept {
  Abi abi{};
  const bool known = set_abi(library, abi);
  int state = 0;
  const bool first = g_found.state.compare_exchange_strong(state, 1);
  if (first) {
    if (!known) {
      std::fprintf(stderr,
                   "timeloom: the MPI library of the program is none that is known (Open MPI, "
                   "MPICH and its relatives, MPI 5's binary interface): its calls are recorded, "
                   "messages are not [TL034]\n");
    }
    g_found.library = library;
    g_found.abi = abi;
    g_found.state.store(known ? 2 : 3, std::memory_order_release);
  }
  while (g_found.state.load(std::memory_order_acquire) < 2) {
  }
  return first;
}

// Returns true if the library has been found, and `state` is 2 or 3.
bool find() noexcept {
  if (g_found.state.load(std::memory_order_acquire) >= 2) return true;
  if (g_several.load(std::memory_order_relaxed)) return false;
  const LoadedLibrary library = search();
  if (library) (void)set_found(library);
  return !!library;
}

// Replaces a function that the library lacks.
int missing() noexcept {
  constexpr int kOtherError = 16;  // an error code of all libraries
  return kOtherError;
}

void* find_or_missing(const LoadedLibrary& library, Function function) noexcept {
  void* const found = find_in(library, kNames[static_cast<std::size_t>(function)].pmpi);
  return found != nullptr ? found : reinterpret_cast<void*>(&missing);
}

// The library that the code around the address would call without wrappers: the library that its
// own file was linked with, otherwise the globally visible one. (The dynamic linker prefers global
// ones, but only those loaded before the file; more may have been loaded since.) Where a function
// ends in a jump to this call, the address belongs to the function's caller. For MPI_Finalize at
// the end of a program, which libraries call in this way, the recorded library is meant.
LoadedLibrary used_by(Function function, const void* caller) noexcept {
  void* init = nullptr;
  Dl_info info{};
  void* const own =
      ::dladdr(caller, &info) == 0 ? nullptr : ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (own != nullptr) init = ::dlsym(own, kInit);
  if (own != nullptr) ::dlclose(own);
  if (init != nullptr) return LoadedLibrary::around(init);
  const bool known = g_found.state.load(std::memory_order_acquire) >= 2;
  if (known && function == Function::kFinalize) return g_found.library;
  init = ::dlsym(RTLD_DEFAULT, kInit);
  if (init != nullptr) return LoadedLibrary::around(init);
  return known ? g_found.library : search();
}

// Programs query MPI again and again, so the libraries are searched only when another one has been
// loaded since. The result is kept in one word with the number of loads at that time; its lowest
// bit is 1 if there were several.
bool has_several() noexcept {
  static constinit std::atomic<unsigned long long> counted = 0;
  const unsigned long long now = LoadedLibrary::number_of_loads();
  const unsigned long long known = counted.load(std::memory_order_relaxed);
  if (known >> 1 == now) return (known & 1) != 0;
  const bool several = LoadedLibrary::count_that_define(kInit) > 1;
  counted.store(now << 1 | (several ? 1 : 0), std::memory_order_relaxed);
  return several;
}

void print_which(const LoadedLibrary& library) noexcept {
  Dl_info info{};
  (void)::dladdr(library.find(kInit), &info);
  std::fprintf(stderr,
               "timeloom: the program has loaded more than one MPI library: calls of %s are "
               "recorded, the calls of others are not [TL035]\n",
               info.dli_fname == nullptr ? "the first" : info.dli_fname);
}

}  // namespace

constinit std::atomic<void*> detail::g_real[kFunctions] = {};

const char* name_of(Function function) noexcept {
  return kNames[static_cast<std::size_t>(function)].mpi;
}

const Abi* abi() noexcept {
  if (g_found.state.load(std::memory_order_acquire) < 2 && !find()) return nullptr;
  return g_found.state.load(std::memory_order_relaxed) == 2 ? &g_found.abi : nullptr;
}

bool may_have(Function function) noexcept {
  const Names& names = kNames[static_cast<std::size_t>(function)];
  if (LoadedLibrary::that_defines(names.pmpi)) return true;
  const LoadedLibrary library = search();
  return !library || find_in(library, names.pmpi) != nullptr;
}

bool detail::has_several_libraries() noexcept { return g_several.load(); }

bool detail::look_whether_passes(Function function, const void* caller) noexcept {
  if (!g_several && has_several() && !g_several.exchange(true)) {
    for (std::atomic<void*>& real : g_real) real = nullptr;
    look_again();
    if (g_found.state.load(std::memory_order_acquire) >= 2) print_which(g_found.library);
  }
  if (!g_several) return false;
  const LoadedLibrary used = used_by(function, caller);
  if (g_found.state.load(std::memory_order_acquire) < 2) {
    if (!begins_mpi(function)) return true;
    if (set_found(used)) print_which(used);
  }
  return !(used == g_found.library);
}

void* detail::real_of(Function function, const void* caller) noexcept {
  return find_or_missing(used_by(function, caller), function);
}

void* detail::find_real(Function function) noexcept {
  void* const found = find_or_missing(find() ? g_found.library : LoadedLibrary{}, function);
  std::atomic<void*>& real = g_real[static_cast<std::size_t>(function)];
  // With several libraries, the right one depends on the caller.
  if (found != reinterpret_cast<void*>(&missing) && !g_several) {
    real = found;
    if (g_several) real = nullptr;
  }
  return found;
}

void* detail::find_called(Function function) noexcept {
  void* const found = find_real(function);
  if (found == reinterpret_cast<void*>(&missing)) {
    std::fprintf(stderr,
                 "timeloom: %s is called, and no MPI library that is loaded has it [TL036]\n",
                 name_of(function));
  }
  return found;
}

}  // namespace timeloom::mpi
