// The operations that the program has started and not yet completed, by the handles of their
// requests.
//
// Any thread; throws nothing: without memory a completion is not recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "core/io.hpp"
#include "core/mpi/mpi_event.hpp"
#include "preload/mpi/communicators.hpp"
#include "preload/mpi/mpi_library.hpp"

namespace timeloom::mpi {

// The operation of one request.
struct Pending {
  enum class Kind : std::uint8_t { kSend, kReceive, kExchange, kCollective, kCommunicator, kFile };
  Kind kind = Kind::kSend;
  bool persistent = false;
  bool active = false;     // started; always true unless it is persistent
  bool cancelled = false;  // the program has requested it
  Communicator* communicator = nullptr;
  std::uint64_t number = 0;          // in the events
  std::uint64_t number_of_send = 0;  // of an exchange; 0: it sends nothing
  std::uint32_t peer = 0, tag = 0;
  std::uint64_t sent = 0, received = 0;
  CollectiveKind operation{};
  std::uint32_t root = kNoRoot;
  const void* made = nullptr;  // where the handle of a new communicator will be stored
  std::uint64_t identity = 0;  // of that
  Handle parent = 0;
  IoHandleId file{};  // that is read or written
  IoOperation transfer{};
  std::uint32_t measurement = 0;  // the measurement in which it started
};

// A number for a request that starts now.
std::uint64_t next_request() noexcept;

// Adds a request of the current measurement. Other operations with this handle are removed: their
// ends were not seen, and they cannot have it any more.
void add_request(Handle request, Pending pending) noexcept;
// Removes and returns the operation of a completed request; a persistent one only becomes inactive.
// Empty: it is not recorded in the current measurement.
std::optional<Pending> complete_request(Handle request) noexcept;
// Starts a persistent operation with a new number.
std::optional<Pending> start_request(Handle request) noexcept;
void mark_cancelled(Handle request) noexcept;
// Called when no call will complete the request. Returns the operation if it was active.
std::optional<Pending> forget_request(Handle request) noexcept;

}  // namespace timeloom::mpi
