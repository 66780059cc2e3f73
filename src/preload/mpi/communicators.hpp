// The communicators of this process, by handle.
//
// Each communicator gets an identity that is the same in all its processes, without a message. It
// is computed from the identity of its parent, the number of communicators created from the parent
// before (all processes take part, in the same order), and the rank in the parent of its first
// process (which distinguishes the results of one call). Of the two groups of an intercommunicator,
// one is the first for all processes. docs/mpi.md describes the cases. Any thread; throws nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "preload/mpi/mpi_library.hpp"

namespace timeloom::mpi {

struct Communicator {
  std::uint32_t id = 0;
  std::uint64_t identity = 0, parent = 0;
  std::uint32_t rank = 0, size = 0;  // in and of this process's group
  std::uint32_t remote_size = 0;     // of the other group; 0: there is only one
  bool second = false;               // this process's group is the second
  std::string name{};
  bool inter() const noexcept { return remote_size != 0; }
  std::atomic<std::uint64_t> children = 0;
  std::atomic<std::uint32_t> defined_in = 0;  // number of the measurement
};

// The communicator of a handle; nullptr: its messages are not recorded. The pointer stays valid.
Communicator* communicator(Handle handle) noexcept;

// The same; defines it in the current measurement.
Communicator* defined_communicator(Handle handle) noexcept;
void define(Communicator& one) noexcept;

// Called when all processes of `parent` have called a function that created `handle`.
Communicator* add_child(Handle parent, Handle handle) noexcept;
// The identity of the next child of `parent`, which does not exist yet; counts it.
std::uint64_t next_identity(Handle parent) noexcept;
Communicator* add_promised(Handle parent, Handle handle, std::uint64_t identity) noexcept;
// Called when only the processes of the group of `handle` have taken part.
Communicator* add_of_group(Handle parent, Handle handle) noexcept;
// An intercommunicator of MPI_Intercomm_create, between the group of `local` and another group of
// the same MPI_COMM_WORLD. For other groups nothing is recorded.
Communicator* add_between(Handle local, Handle handle) noexcept;

// Called before all processes of `parent` spawn: the identity of the spawn, equal in all of them.
std::uint64_t spawn_identity(Handle parent) noexcept;
// The communicator between the spawning processes, which are its first group, and the spawned ones.
// `number`: of the spawn; 0: not known. `parent` 0: this process was spawned.
Communicator* add_spawned(Handle parent, Handle handle, std::uint64_t identity,
                          std::uint32_t number) noexcept;

// The communicator with that handle; nullptr: none is known.
const Communicator* known_communicator(Handle handle) noexcept;
// Called after a communicator was freed. Another one, which a thread was given with the same handle
// meanwhile, stays.
void forget_communicator(Handle handle, const Communicator* freed) noexcept;
// Called when the program has named it.
void name_communicator(Handle handle, const char* name) noexcept;

}  // namespace timeloom::mpi
