// Messages, collective operations, and input and output, as formats show them: a mark in the call
// that made them, with what is known of them.
//
// A TransferReader follows one location and is used by one thread; the rest are plain functions.
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
  std::string_view name;  // lives as long as the program
  std::int64_t number = 0;
  std::string text{};  // in the place of the number; empty: there is a number
};

struct Transfer {
  std::string_view name;  // "send", "Allreduce", "read"; lives as long as the program
  Category category = Category::kOther;
  std::vector<TransferFact> facts{};
  std::uint64_t message = 0;  // number of a message whose other end is known; 0: there is none
  bool arrives = false;       // of a message: it was received
};

// Of one location, for each of its sends and receives in order: a number that both ends of a
// message have and no other message; 0, or none, where the other end is not known.
using MessageNumbers = std::map<LocationId, std::vector<std::uint64_t>>;

// Messages by their numbers, for which the run is read once more if it has communicators.
MessageNumbers number_messages(RunSource& run, unsigned threads);

class TransferReader {
 public:
  // All outlive it; `numbers`: of all locations.
  TransferReader(const Definitions& definitions, const MessageNumbers& numbers,
                 LocationId location);

  // REQUIRES: every event of the location that is of MPI or of input and output, in order. Nothing
  // for those that are a part of another one, and for events that are neither.
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
  const std::vector<std::uint64_t>* numbers_ = nullptr;  // null: no message has one
  std::size_t messages_ = 0;                             // so far
  Operands operands_;
  std::optional<std::int64_t> offset_;               // of the event that comes next
  std::map<std::uint32_t, std::int64_t> offsets_{};  // by handle, of the transfer that goes on
};

}  // namespace timeloom::exchange
