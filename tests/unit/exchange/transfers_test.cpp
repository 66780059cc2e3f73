// Marks of messages, collective operations and I/O.
#include "exchange/transfers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/io.hpp"

namespace timeloom::exchange {
namespace {

// "name: fact=value fact=value", for messages with their number.
std::vector<std::string> marks(const Definitions& definitions, const std::vector<Event>& events,
                               const MessageNumbers& numbers = {}) {
  TransferReader reader(definitions, numbers, LocationId{0});
  std::vector<std::string> all;
  for (const Event& event : events) {
    const std::optional<Transfer> one = reader.read(event);
    if (!one) continue;
    std::string text = std::string(name_of(one->category)) + " " + std::string(one->name) + ":";
    for (const TransferFact& fact : one->facts) {
      text += " " + std::string(fact.name) + "=" +
              (fact.text.empty() ? std::to_string(fact.number) : fact.text);
    }
    if (one->message != 0) {
      text += (one->arrives ? " <- " : " -> ") + std::to_string(one->message);
    }
    all.push_back(text);
  }
  return all;
}

Event event(EventKind kind, std::uint32_t ref, std::uint64_t value) {
  return {Timestamp{1}, kind, ref, value};
}

Event first_operand(std::uint32_t first, std::uint32_t second) {
  return operand(Timestamp{1}, OperandKind::kPeerAndTag, pair_of(first, second));
}

TEST(Transfers, OfMpiSayPeersAndBytes) {
  Definitions definitions;
  definitions.communicators.resize(2);
  definitions.communicators[0].name = "MPI_COMM_WORLD";
  const std::vector<Event> events = {
      first_operand(3, 7),
      event(EventKind::kMpiSend, 0, 80),
      event(EventKind::kMpiIrecvRequest, 0, 9),
      first_operand(2, 8),
      event(EventKind::kMpiIrecv, 1, 5),
      event(EventKind::kMpiCollectiveBegin, 0, 0),
      first_operand(static_cast<std::uint32_t>(CollectiveKind::kBcast), 1),
      operand(Timestamp{1}, OperandKind::kReceived, 40),
      event(EventKind::kMpiCollectiveEnd, 0, 20),
      first_operand(static_cast<std::uint32_t>(CollectiveKind::kAllreduce), kNoRoot),
      event(EventKind::kMpiCollectiveComplete, 0, 4),
  };
  EXPECT_EQ(
      marks(definitions, events, {{LocationId{0}, {6, 0}}}),
      (std::vector<std::string>{"mpi send: to=3 bytes=80 tag=7 communicator=MPI_COMM_WORLD -> 6",
                                "mpi receive: from=2 bytes=5 tag=8 communicator=communicator 1",
                                "mpi Bcast: root=1 sent=20 received=40 communicator=MPI_COMM_WORLD",
                                "mpi Allreduce: sent=4 received=40 communicator=MPI_COMM_WORLD"}));
}

TEST(Transfers, OfFilesSayBytesAndOffsets) {
  Definitions definitions;
  definitions.io_handles.resize(2);
  definitions.io_handles[0].file = "/data";
  definitions.io_handles[1].name = "pipe";
  definitions.strings = {"/gone"};
  const std::vector<Event> events = {
      event(EventKind::kIoCreate, 0, 0),       event(EventKind::kIoOffset, 0, 5),
      event(EventKind::kIoRead, 0, 30),        event(EventKind::kIoReadDone, 0, 25),
      event(EventKind::kIoWrite, 1, 9),        event(EventKind::kIoWriteDone, 1, 9),
      event(EventKind::kIoFlush, 0, kNoBytes), event(EventKind::kIoFlushDone, 0, kNoBytes),
      event(EventKind::kIoOffset, 2, 0),       event(EventKind::kIoSeek, 0, 100),
      event(EventKind::kIoDestroy, 0, 0),      event(EventKind::kIoDelete, 0, 0),
      event(EventKind::kIoReadDone, 7, 3),  // a handle that is not defined
      event(EventKind::kRecordingOff, 0, 0),
  };
  EXPECT_EQ(
      marks(definitions, events),
      (std::vector<std::string>{"io open: file=/data", "io read: file=/data bytes=25 offset=5",
                                "io write: file=pipe bytes=9", "io flush: file=/data",
                                "io seek: file=/data offset=100", "io close: file=/data",
                                "io delete: file=/gone", "io read: bytes=3"}));
}

}  // namespace
}  // namespace timeloom::exchange
