// Kinds of waiting and of collective operations of MPI. Pure functions, for any thread; nothing
// throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/mpi/mpi_event.hpp"

namespace timeloom::profile {

// The reason for which a process waits.
enum class WaitKind : std::uint8_t {
  kLateSender,    // a receive starts before the message is sent
  kLateReceiver,  // a send is held until the message is received
  kBarrier,       // for the last process at a barrier
  kAllToAll,      // for the last process in an operation from all to all
  kLateRoot,      // for the root of an operation from one to all
  kEarlyRoot,     // the root waits in an operation from all to one
};
inline constexpr std::size_t kWaitKinds = 6;
const char* name_of(WaitKind kind) noexcept;

// As in the names of MPI's functions: "Allreduce".
const char* name_of(CollectiveKind kind) noexcept;

// The direction of the data: from the root to all, from all to the root, or from all to all.
bool one_to_all(CollectiveKind kind) noexcept;
bool all_to_one(CollectiveKind kind) noexcept;
bool all_to_all(CollectiveKind kind) noexcept;

// Whether the MPI function with that name is an operation between neighbours of a topology.
bool only_neighbours(std::string_view name) noexcept;

// Waits for a message, which another call then receives.
bool is_blocking_probe(std::string_view name) noexcept;

// Reads a status, as programs do between a probe and the receive.
bool reads_status(std::string_view name) noexcept;

// Waits for other processes, and no event tells for which.
bool waits_unseen(std::string_view name) noexcept;

}  // namespace timeloom::profile
