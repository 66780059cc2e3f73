// What the program has begun and not completed yet, by the handles of its requests.
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
  bool active = false;     // begun; always, unless it is persistent
  bool cancelled = false;  // the program has asked for it
  Communicator* communicator = nullptr;
  std::uint64_t number = 0;          // in the events
  std::uint64_t number_of_send = 0;  // of an exchange; 0: nothing is sent
  std::uint32_t peer = 0, tag = 0;
  std::uint64_t sent = 0, received = 0;
  CollectiveKind operation{};
  std::uint32_t root = kNoRoot;
  const void* made = nullptr;  // where the handle of a new communicator will be
  std::uint64_t identity = 0;  // of that
  Handle parent = 0;
  IoHandleId file{};  // that is read or written
  IoOperation transfer{};
  std::uint32_t measurement = 0;  // in which it was begun
};

// A number for a request that begins now.
std::uint64_t next_request() noexcept;

// Of the running measurement. Others under the handle that cannot have it any more, since their
// ends were not seen, are forgotten.
void add_request(Handle request, Pending pending) noexcept;
// The operation that a completed request stood for, which is forgotten, or, of a persistent one,
// not active from now on. Nothing: it is none that is recorded in the running measurement.
std::optional<Pending> complete_request(Handle request) noexcept;
// Begins a persistent one under a new number.
std::optional<Pending> start_request(Handle request) noexcept;
void mark_cancelled(Handle request) noexcept;
// Nobody will complete it. The operation, if it was active.
std::optional<Pending> forget_request(Handle request) noexcept;

}  // namespace timeloom::mpi
