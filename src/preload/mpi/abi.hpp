// The binary interfaces of MPI libraries.
//
// The wrappers are built without mpi.h and without a library. All handles are passed with the width
// of a register; an Abi describes the differences between the interfaces (sizes of handles, the
// layout of MPI_Status, constants). Any thread; nothing throws or allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace timeloom::preload {
class LoadedLibrary;
}  // namespace timeloom::preload

namespace timeloom::mpi {

using preload::LoadedLibrary;

using Handle = std::uintptr_t;  // MPI_Comm, MPI_Datatype …: an int in MPICH, else a pointer
using Count = long long;        // MPI_Count, MPI_Offset
using Aint = std::intptr_t;

// The binary interface of a library; see docs/mpi.md for the sources of the numbers.
struct Abi {
  const char* name;
  std::size_t handle_bytes;
  std::size_t status_bytes, source_at, tag_at;  // of MPI_Status; its error follows the tag
  int proc_null, any_source, any_tag, root, undefined, in_status;  // MPI_ERR_IN_STATUS
  std::uintptr_t in_place, no_status;  // MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
  Handle world, self, no_comm, no_request, no_info, byte, unsigned_long, max, no_op;
  // MPI_MODE_CREATE …
  int mode_create, mode_write_only, mode_read_write, mode_exclusive, mode_append;
  int cart, graph, dist_graph;  // MPI_CART …, of topologies
  int funneled;                 // MPI_THREAD_FUNNELED; the levels above are greater

  // A handle as passed in a register; MPICH's use only half of it.
  Handle handle(Handle raw) const noexcept { return handle_bytes == 4 ? raw & UINT32_MAX : raw; }
  // Entry `i` of an array of handles.
  Handle load(const void* array, std::size_t i = 0) const noexcept {
    Handle value = 0;
    std::memcpy(&value, static_cast<const char*>(array) + i * handle_bytes, handle_bytes);
    return value;
  }
  bool is_in_place(const void* buffer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(buffer) == in_place;
  }
};

// The size of the largest MPI_Status.
inline constexpr std::size_t kStatusBytes = 32;

// Finds a function of the library by its profiling name, such as PMPI_Send, or by its ordinary name
// if the library was built without these. nullptr: it has neither.
void* find_in(const LoadedLibrary& library, const char* pmpi) noexcept;

// Finds the interface of the library. False: it implements no known one.
bool set_abi(const LoadedLibrary& library, Abi& abi) noexcept;

}  // namespace timeloom::mpi
