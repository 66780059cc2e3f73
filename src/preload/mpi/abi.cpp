#include "preload/mpi/abi.hpp"

#include <string_view>

#include "preload/common/loaded_symbols.hpp"

namespace timeloom::mpi {
namespace {

// Open MPI 4 and 5: handles are addresses of objects in the library.
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
                       .in_status = 18,
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
                       .cart = 1,
                       .graph = 2,
                       .dist_graph = 3,
                       .funneled = 1};

// MPICH since 3.1 and libraries with its interface: Intel MPI, MVAPICH, Cray MPICH.
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
                     .in_status = 17,
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
                     .cart = 2,
                     .graph = 1,
                     .dist_graph = 3,
                     .funneled = 1};

// The standard's own binary interface, since MPI 5.0 (chapter "Application Binary Interface"):
// handles are pointers with fixed values.
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
                        .in_status = 19,
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
                        .cart = 211,
                        .graph = 212,
                        .dist_graph = 213,
                        .funneled = 1024};
static_assert(kStandard.status_bytes <= kStatusBytes);

// The major version of the standard interface that the library implements. Not positive: it
// implements another one; a library with both has a file for each. Available before MPI_Init, as is
// the library's own version.
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

}  // namespace

void* find_in(const LoadedLibrary& library, const char* pmpi) noexcept {
  void* const found = library.find(pmpi);
  return found != nullptr ? found : library.find(pmpi + 1);
}

bool set_abi(const LoadedLibrary& library, Abi& abi) noexcept {
  // A program linked with the library has copies of its objects, which then apply.
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

}  // namespace timeloom::mpi
