// The binary interfaces of MPI libraries.
//
// The wrappers are built without mpi.h and without a library: all handles travel as wide as a
// register, and where the interfaces differ (sizes of handles, the layout of MPI_Status,
// constants), an Abi says how. Any thread; nothing throws or allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace timeloom::mpi {

class LoadedLibrary;

using Handle = std::uintptr_t;  // MPI_Comm, MPI_Datatype …: an int in MPICH, else a pointer
using Count = long long;        // MPI_Count, MPI_Offset
using Aint = std::intptr_t;

// The binary interface of a library; see docs/mpi.md for the sources of the numbers.
struct Abi {
  const char* name;
  std::size_t handle_bytes;
  std::size_t status_bytes, source_at, tag_at;  // of MPI_Status; its error stands after the tag
  int proc_null, any_source, any_tag, root, undefined, in_status;  // MPI_ERR_IN_STATUS
  std::uintptr_t in_place, no_status;  // MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
  Handle world, self, no_comm, no_request, no_info, byte, unsigned_long, max, no_op;
  // MPI_MODE_CREATE …
  int mode_create, mode_write_only, mode_read_write, mode_exclusive, mode_append;
  int cart, graph, dist_graph;  // MPI_CART …, of topologies
  int funneled;                 // MPI_THREAD_FUNNELED; the levels above are greater

  // A handle as it came in a register, of which MPICH's take only half.
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

// The largest MPI_Status of all.
inline constexpr std::size_t kStatusBytes = 32;

// A function of the library by its name for tools, such as PMPI_Send; one that was built without
// these names has the other. nullptr: it has neither.
void* find_in(const LoadedLibrary& library, const char* pmpi) noexcept;

// Sets the interface of the library. False: it keeps none that is known.
bool set_abi(const LoadedLibrary& library, Abi& abi) noexcept;

}  // namespace timeloom::mpi
