#include "library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <string_view>

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

// Open MPI 4 and 5: handles are the addresses of objects of the library.
constexpr Abi kOpenMpi{.name = "Open MPI",
                       .handle_bytes = 8,
                       .status_bytes = 24,
                       .source_at = 0,
                       .tag_at = 4,
                       .proc_null = -2,
                       .any_source = -1,
                       .any_tag = -1,
                       .root = -4,
                       .undefined = -32766,
                       .in_place = 1,
                       .no_status = 0,
                       .world = 0,
                       .self = 0,
                       .no_comm = 0,
                       .no_request = 0,
                       .no_info = 0,
                       .byte = 0,
                       .unsigned_long = 0,
                       .max = 0,
                       .no_op = 0,
                       .mode_create = 1,
                       .mode_write_only = 4,
                       .mode_read_write = 8,
                       .mode_exclusive = 64,
                       .mode_append = 128,
                       .funneled = 1};

// MPICH since 3.1 and what shares its interface: Intel MPI, MVAPICH, Cray MPICH.
constexpr Abi kMpich{.name = "MPICH",
                     .handle_bytes = 4,
                     .status_bytes = 20,
                     .source_at = 8,
                     .tag_at = 12,
                     .proc_null = -1,
                     .any_source = -2,
                     .any_tag = -1,
                     .root = -3,
                     .undefined = -32766,
                     .in_place = ~std::uintptr_t{0},
                     .no_status = 1,
                     .world = 0x44000000,
                     .self = 0x44000001,
                     .no_comm = 0x04000000,
                     .no_request = 0x2c000000,
                     .no_info = 0x1c000000,
                     .byte = 0x4c00010d,
                     .unsigned_long = 0x4c000808,
                     .max = 0x58000001,
                     .no_op = 0x5800000e,
                     .mode_create = 1,
                     .mode_write_only = 4,
                     .mode_read_write = 8,
                     .mode_exclusive = 64,
                     .mode_append = 128,
                     .funneled = 1};

// The standard's own, since MPI 5.0 (chapter "Application Binary Interface"): handles are pointers
// with fixed values.
constexpr Abi kStandard{.name = "MPI 5",
                        .handle_bytes = 8,
                        .status_bytes = 32,
                        .source_at = 0,
                        .tag_at = 4,
                        .proc_null = -3,
                        .any_source = -1,
                        .any_tag = -2,
                        .root = -4,
                        .undefined = -32766,
                        .in_place = 1,
                        .no_status = 0,
                        .world = 0x101,
                        .self = 0x102,
                        .no_comm = 0x100,
                        .no_request = 0x180,
                        .no_info = 0x130,
                        .byte = 0x247,
                        .unsigned_long = 0x20e,
                        .max = 0x23,
                        .no_op = 0x3d,
                        .mode_create = 2,
                        .mode_write_only = 256,
                        .mode_read_write = 32,
                        .mode_exclusive = 8,
                        .mode_append = 1,
                        .funneled = 1024};
static_assert(kStandard.status_bytes <= kStatusBytes);

// The library that is recorded. Written once, by whichever thread comes first; all find the same.
struct Found {
  LoadedLibrary library;
  Abi abi{};
  std::atomic<int> state = 0;  // 0 not searched, 1 being written, 2 known, 3 of an unknown kind
};
constinit Found g_found;

// A function of the library by its name for tools; one that was built without these has the other.
void* find_in(const LoadedLibrary& library, const char* pmpi) noexcept {
  void* const found = library.find(pmpi);
  return found != nullptr ? found : library.find(pmpi + 1);
}

// The major version of the standard's interface that the library keeps. Not positive: it keeps
// another one; a library that has both has a file for each. Told before MPI_Init, like its own
// version.
int standard_version(const LoadedLibrary& library) noexcept {
  using Ask = int(int* major, int* minor);
  auto* const ask = reinterpret_cast<Ask*>(find_in(library, "PMPI_Abi_get_version"));
  int major = -1, minor = -1;
  return ask != nullptr && ask(&major, &minor) == 0 ? major : -1;
}

bool is_mpich(const LoadedLibrary& library) noexcept {
  using Ask = int(char* text, int* length);
  auto* const ask = reinterpret_cast<Ask*>(find_in(library, "PMPI_Get_library_version"));
  if (ask == nullptr) return false;
  char text[8192] = {};
  int length = 0;
  if (ask(text, &length) != 0) return false;
  const std::string_view version(text);
  for (const char* name : {"MPICH", "Intel(R) MPI", "MVAPICH"}) {
    if (version.find(name) != std::string_view::npos) return true;
  }
  return false;
}

bool set_abi(const LoadedLibrary& library, Abi& abi) noexcept {
  // A program that is linked with the library has copies of its objects, which count then.
  const auto address = [](const char* name) {
    return reinterpret_cast<Handle>(LoadedLibrary::that_defines(name).find(name));
  };
  if (const int version = standard_version(library); version > 0) {
    abi = kStandard;
    return version == 1;
  }
  if (library.find("ompi_mpi_comm_world") != nullptr) {
    abi = kOpenMpi;
    abi.world = address("ompi_mpi_comm_world");
    abi.self = address("ompi_mpi_comm_self");
    abi.no_comm = address("ompi_mpi_comm_null");
    abi.no_request = address("ompi_request_null");
    abi.no_info = address("ompi_mpi_info_null");
    abi.byte = address("ompi_mpi_byte");
    abi.unsigned_long = address("ompi_mpi_unsigned_long");
    abi.max = address("ompi_mpi_op_max");
    abi.no_op = address("ompi_mpi_op_no_op");
    return true;
  }
  if (!is_mpich(library)) return false;
  abi = kMpich;
  return true;
}

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
