#include "library.hpp"

#include <dlfcn.h>

#include <cstdio>

#include "loaded_symbols.hpp"

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
#include "functions.inc"
};
static_assert(sizeof kNames / sizeof kNames[0] == kFunctions);

// The library that is recorded. Written once, by whichever thread comes first; all find the same.
struct Found {
  LoadedLibrary library;
  Abi abi{};
  std::atomic<int> state = 0;  // 0 not searched, 1 being written, 2 known, 3 of an unknown kind
};
constinit Found g_found;

constinit std::atomic<bool> g_several = false;  // see passes()

constexpr char kInit[] = "PMPI_Init";

// Only finds the library: also while symbols are bound, when nothing of it may be called. The first
// of several.
LoadedLibrary search() noexcept {
  const LoadedLibrary library = LoadedLibrary::that_defines(kInit);
  return library ? library : LoadedLibrary::that_defines(kInit + 1, &g_found);
}

// Written by whoever comes first.
void set_found(const LoadedLibrary& library) noexcept {
  Abi abi{};
  const bool known = set_abi(library, abi);
  int state = 0;
  if (g_found.state.compare_exchange_strong(state, 1)) {
    if (!known) {
      std::fprintf(stderr,
                   "timeloom: the MPI library of the program is none that is known (Open MPI, "
                   "MPICH and its relatives, MPI 5's binary interface): its calls are recorded, "
                   "messages are not\n");
    }
    g_found.library = library;
    g_found.abi = abi;
    g_found.state.store(known ? 2 : 3, std::memory_order_release);
  }
  while (g_found.state.load(std::memory_order_acquire) < 2) {
  }
}

// True: it has been found, and `state` is 2 or 3.
bool find() noexcept {
  if (g_found.state.load(std::memory_order_acquire) >= 2) return true;
  if (g_several.load(std::memory_order_relaxed)) return false;
  const LoadedLibrary library = search();
  if (library) set_found(library);
  return !!library;
}

// Stands in for a function that the library lacks.
int missing() noexcept {
  constexpr int kOtherError = 16;  // some error, in all libraries
  return kOtherError;
}

void* find_or_say(const LoadedLibrary& library, Function function) noexcept {
  const Names& names = kNames[static_cast<std::size_t>(function)];
  if (void* const found = find_in(library, names.pmpi)) return found;
  std::fprintf(stderr, "timeloom: %s is called, and no MPI library that is loaded has it\n",
               names.mpi);
  return reinterpret_cast<void*>(&missing);
}

// The library that the code around the address calls where no wrapper stands before it: as the
// dynamic linker searches, first what all may see, then what its own library was linked with. Where
// that is none, the caller has returned before the call (a jump at its end): the recorded library.
LoadedLibrary used_by(const void* caller) noexcept {
  void* init = ::dlsym(RTLD_DEFAULT, kInit);
  Dl_info info{};
  if (init == nullptr && ::dladdr(caller, &info) != 0) {
    void* const own = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (own != nullptr) init = ::dlsym(own, kInit);
    if (own != nullptr) ::dlclose(own);
  }
  if (init != nullptr) return LoadedLibrary::around(init);
  return g_found.state.load(std::memory_order_acquire) >= 2 ? g_found.library : search();
}

void say_which(const LoadedLibrary& library) noexcept {
  Dl_info info{};
  (void)::dladdr(library.find(kInit), &info);
  std::fprintf(stderr,
               "timeloom: the program has loaded more than one MPI library: calls of %s are "
               "recorded, those of others are not\n",
               info.dli_fname == nullptr ? "the first" : info.dli_fname);
}

bool begins_mpi(Function function) noexcept {
  return function == Function::kInit || function == Function::kInit_thread ||
         function == Function::kSession_init;
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

bool detail::look_whether_passes(Function function, const void* caller) noexcept {
  if (!g_several && LoadedLibrary::count_that_define(kInit) > 1 && !g_several.exchange(true)) {
    for (std::atomic<void*>& real : g_real) real = nullptr;
    if (g_found.state.load(std::memory_order_acquire) >= 2) say_which(g_found.library);
  }
  if (!g_several) return false;
  const LoadedLibrary used = used_by(caller);
  if (g_found.state.load(std::memory_order_acquire) < 2) {
    if (!begins_mpi(function)) return true;
    set_found(used);
    say_which(used);
  }
  return !(used == g_found.library);
}

void* detail::real_of(Function function, const void* caller) noexcept {
  return find_or_say(used_by(caller), function);
}

void* detail::find_real(Function function) noexcept {
  void* const found = find_or_say(find() ? g_found.library : LoadedLibrary{}, function);
  std::atomic<void*>& real = g_real[static_cast<std::size_t>(function)];
  if (found != reinterpret_cast<void*>(&missing)) real.store(found, std::memory_order_relaxed);
  if (g_several) real = nullptr;  // which one depends on who calls
  return found;
}

}  // namespace timeloom::mpi
