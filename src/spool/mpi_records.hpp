// Turns the MPI records of a segment into events. Internal to src/spool; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "core/event_word.hpp"

namespace timeloom::spool {

constexpr bool is_mpi(ExtendedKind kind) noexcept {
  return kind >= ExtendedKind::kMpiSend && kind <= ExtendedKind::kCommDestroy;
}

// Appends the event of a record with these words, after its operands; false: it is malformed.
// REQUIRES: is_mpi(kind). Throws std::bad_alloc.
bool add_mpi(ExtendedKind kind, std::span<const std::uint64_t> words, Timestamp time,
             std::vector<Event>& events);

}  // namespace timeloom::spool
