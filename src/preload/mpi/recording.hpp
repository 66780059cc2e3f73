// Records MPI calls into the stream of the calling thread, below the calling function.
//
// Any thread. errno stays unchanged. Throws nothing; without memory a call is not recorded.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "core/event_word.hpp"
#include "core/mpi/mpi_event.hpp"
#include "preload/mpi/mpi_library.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::mpi {

// The region of a call: lasts as long as the object.
class Call {
 public:
  explicit Call(Function function) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  record::WrappedFunction* function_ = nullptr;  // nullptr: nothing is recorded
};

// Records an event of the innermost region.
void put(ExtendedKind kind, std::initializer_list<std::uint64_t> words) noexcept;
// Records bytes that have no event.
void put_bytes(record::BytesOf what, std::uint64_t bytes) noexcept;

}  // namespace timeloom::mpi
