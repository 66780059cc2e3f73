// Messages, collective operations and I/O as formats show them: a mark, with its known properties,
// in the call that made them.
//
// A TransferReader follows one location and is used by one thread; all others are plain functions.
// Throws std::bad_alloc, and Error where reading the run fails.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"
#include "core/mpi/mpi_event.hpp"
#include "exchange/names.hpp"
#include "profile/messages.hpp"

namespace timeloom::exchange {

struct TransferFact {
  std::string_view name;  // has static lifetime
  std::int64_t number = 0;
  std::string text{};  // used instead of the number; empty: there is a number
};

struct Transfer {
  std::string_view name;  // "send", "Allreduce", "read"; has static lifetime
  Category category = Category::kOther;
  std::vector<TransferFact> facts{};
  std::uint64_t message = 0;  // number of a message whose other end is known; 0: none
  bool arrives = false;       // for messages: it was received
};

// For each send and receive of one location, in order: a number shared by the two ends of a message
// and by no other message. 0, or missing, where the other end is not known.
using MessageNumbers = std::map<LocationId, std::vector<std::uint64_t>>;

// Numbers the messages. If the run has communicators, it is read once more.
MessageNumbers number_messages(RunSource& run, unsigned threads);

class TransferReader {
 public:
  // All arguments outlive it; `numbers`: of all locations.
  TransferReader(const Definitions& definitions, const MessageNumbers& numbers,
                 LocationId location);

  // REQUIRES: called with every MPI and I/O event of the location, in order. Returns nothing for
  // other events, and for parts of another operation.
  std::optional<Transfer> read(const Event& event);

 private:
  std::optional<Transfer> of_mpi(const Event& event);
  std::optional<Transfer> of_io(const Event& event);
  Transfer message(const Event& event);
  Transfer collective(const Event& event) const;
  Transfer transferred(const Event& event, std::string_view name);
  Transfer of_handle(const Event& event, std::string_view name) const;
  std::string communicator_name(std::uint32_t communicator) const;

  const Definitions& definitions_;
  const std::vector<std::uint64_t>* numbers_ = nullptr;  // null: no message has a number
  std::size_t messages_ = 0;                             // so far
  Operands operands_;
  std::optional<std::int64_t> offset_;               // for the next event
  std::map<std::uint32_t, std::int64_t> offsets_{};  // by handle, of the transfer in progress
};

}  // namespace timeloom::exchange
