// Records the events of messages from the arguments of MPI functions.
//
// Any thread; throws nothing. Nothing is recorded for MPI_PROC_NULL, for communicators between two
// groups, and while nothing is measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "preload/mpi/recording.hpp"
#include "preload/mpi/requests.hpp"

namespace timeloom::mpi {

// The bytes of this number of elements. Without elements the type may be null; 0 for a type of
// undefined size.
std::uint64_t bytes_of(Count count, Handle datatype) noexcept;

// An MPI_Status: the program's, or a replacement where the program ignores it.
class Status {
 public:
  explicit Status(void* given) noexcept
      : at_(reinterpret_cast<std::uintptr_t>(given) == abi()->no_status ? own_.data() : given) {}
  void* get() noexcept { return at_; }

 private:
  alignas(8) std::array<std::byte, kStatusBytes> own_{};
  void* at_;
};

struct Envelope {
  std::uint32_t source = 0, tag = 0;
  std::uint64_t bytes = 0;
  bool from_nobody = false;  // MPI_PROC_NULL
};
Envelope envelope_of(const void* status) noexcept;
// The error in a status; calls that return MPI_ERR_IN_STATUS set it.
int error_of(const void* status) noexcept;
bool is_in_status(int result) noexcept;

// Records a send. Called before the message is sent.
void put_send(Handle comm, int dest, int tag, Count count, Handle datatype) noexcept;
// Records a non-blocking send. REQUIRES: the receiver is not MPI_PROC_NULL.
void put_isend(const Communicator& communicator, int dest, int tag, std::uint64_t bytes,
               std::uint64_t request) noexcept;
// Records a receive whose message has arrived.
void put_receive(Handle comm, const void* status) noexcept;
void put_request(ExtendedKind kind, std::uint64_t request) noexcept;
// Records the completion of a request with this status.
void put_completion(Handle request, const void* status) noexcept;
// Records the restart of a persistent request.
void put_start(Handle request) noexcept;

// Notes a message that was probed for and will be received by its handle.
void add_message(Handle message, Handle comm) noexcept;
Handle take_message(Handle message) noexcept;  // its communicator; 0: not known

}  // namespace timeloom::mpi
