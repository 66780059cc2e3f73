// The events of messages, from what the functions of MPI are given.
//
// Any thread; throws nothing. Nothing is recorded of MPI_PROC_NULL, of communicators between two
// groups, and while nothing is measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "preload/mpi/recording.hpp"
#include "preload/mpi/requests.hpp"

namespace timeloom::mpi {

// Of so many elements. Without any the type may be none; 0 of a type whose size is not defined.
std::uint64_t bytes_of(Count count, Handle datatype) noexcept;

// An MPI_Status: the user's, or one of ours where the user ignores it.
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
// The error in a status, which is set by calls that return MPI_ERR_IN_STATUS.
int error_of(const void* status) noexcept;
bool is_in_status(int result) noexcept;

// Of a message that is sent now, before it is.
void put_send(Handle comm, int dest, int tag, Count count, Handle datatype) noexcept;
// The same of one that does not block, to another than MPI_PROC_NULL.
void put_isend(const Communicator& communicator, int dest, int tag, std::uint64_t bytes,
               std::uint64_t request) noexcept;
// Of one that has arrived.
void put_receive(Handle comm, const void* status) noexcept;
void put_request(ExtendedKind kind, std::uint64_t request) noexcept;
// Of one whose request has been completed, with this status.
void put_completion(Handle request, const void* status) noexcept;
// Of one that is started again.
void put_start(Handle request) noexcept;

// A message that was probed for and will be received by its handle.
void add_message(Handle message, Handle comm) noexcept;
Handle take_message(Handle message) noexcept;  // its communicator; 0: not known

}  // namespace timeloom::mpi
