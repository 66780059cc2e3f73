// The communicators that this process belongs to, by their handles.
//
// A communicator gets an identity that is the same in all its processes, without a message: it is
// made of the identity of its parent, of how many were made from that before (all its processes
// take part, in the same order), and of the rank in its parent of its first process (which tells
// apart what one call made). Of two groups that a communicator is between, one is the first for all
// processes. docs/mpi.md has the cases. Any thread; throws nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "preload/mpi/mpi_library.hpp"

namespace timeloom::mpi {

struct Communicator {
  std::uint32_t id = 0;
  std::uint64_t identity = 0, parent = 0;
  std::uint32_t rank = 0, size = 0;  // of and in the own group
  std::uint32_t remote_size = 0;     // of the other group; 0: there is one only
  bool second = false;               // the own group is the second
  std::string name{};
  bool inter() const noexcept { return remote_size != 0; }
  std::atomic<std::uint64_t> children = 0;
  std::atomic<std::uint32_t> defined_in = 0;  // the measurement
};

// The communicator of a handle; nullptr: none that messages are recorded for. It stays valid.
Communicator* communicator(Handle handle) noexcept;

// The same, and it is defined in the running measurement.
Communicator* defined_communicator(Handle handle) noexcept;
void define(Communicator& one) noexcept;

// All processes of `parent` have just called a function that made `handle`.
Communicator* add_child(Handle parent, Handle handle) noexcept;
// The next child of `parent`, which is not known yet, counts as this one.
std::uint64_t next_identity(Handle parent) noexcept;
Communicator* add_promised(Handle parent, Handle handle, std::uint64_t identity) noexcept;
// Only the processes of the group of `handle` have called.
Communicator* add_of_group(Handle parent, Handle handle) noexcept;
// One between the group of `local` and another one of the same MPI_COMM_WORLD, by
// MPI_Intercomm_create. Of other groups nothing is recorded.
Communicator* add_between(Handle local, Handle handle) noexcept;

// All processes of `parent` are about to spawn: the identity of that, the same for all.
std::uint64_t spawn_identity(Handle parent) noexcept;
// The communicator between the processes that have spawned, which are its first group, and those
// that were. `number`: of the spawn; 0: not known. `parent` 0: this process was spawned.
Communicator* add_spawned(Handle parent, Handle handle, std::uint64_t identity,
                          std::uint32_t number) noexcept;

// The communicator that has the handle; nullptr: no known one has.
const Communicator* known_communicator(Handle handle) noexcept;
// The communicator was freed. Another one, which a thread was given with that handle meanwhile,
// stays.
void forget_communicator(Handle handle, const Communicator* freed) noexcept;
// The user has named it.
void name_communicator(Handle handle, const char* name) noexcept;

}  // namespace timeloom::mpi
