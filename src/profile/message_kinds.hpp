// Kinds of waiting and of collective operations of MPI. Pure functions, for any thread; nothing
// throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/mpi/mpi_event.hpp"

namespace timeloom::profile {

// For what a process waits.
enum class WaitKind : std::uint8_t {
  kLateSender,    // receives before the message is sent
  kLateReceiver,  // sends, and is held until it is received
  kBarrier,       // at a barrier, for the last
  kAllToAll,      // at an operation that all take part in, for the last
  kLateRoot,      // for the root of an operation from one to all
  kEarlyRoot,     // the root, of an operation from all to one
};
inline constexpr std::size_t kWaitKinds = 6;
const char* name_of(WaitKind kind) noexcept;

// As in the names of MPI's functions: "Allreduce".
const char* name_of(CollectiveKind kind) noexcept;

// The way of the data: from the root to all, from all to the root, or from all to all.
bool one_to_all(CollectiveKind kind) noexcept;
bool all_to_one(CollectiveKind kind) noexcept;
bool all_to_all(CollectiveKind kind) noexcept;

// An operation between neighbours of a topology.
bool only_neighbours(std::string_view name) noexcept;

// Waits until there is a message that another call receives.
bool is_blocking_probe(std::string_view name) noexcept;

// Asks for facts of a status, as programs do between a probe and the receive.
bool reads_status(std::string_view name) noexcept;

// A function of MPI that waits for other processes without an event that says for whom.
bool waits_unseen(std::string_view name) noexcept;

}  // namespace timeloom::profile
