// Messages, collective operations and communicators are read as they were written.
#include <gtest/gtest.h>

#include "core/mpi/mpi_event.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {
namespace {

using enum EventKind;

Event operand(std::uint64_t time, OperandKind place, std::uint64_t value) {
  return timeloom::operand(Timestamp{time}, place, value);
}

// Two processes; the communicators of all, of one, and one created from the first.
Story job() {
  Story run;
  Definitions& all = run.definitions;
  all.clock = {1'000'000'000, 0, 1000, {}};
  all.strings = {""};
  all.regions = {
      {"MPI_Send", "MPI_Send", "MPI", "MPI", 0, 0, Paradigm::kMpi, RegionRole::kPointToPoint},
      {"MPI_Barrier", "MPI_Barrier", "MPI", "MPI", 0, 0, Paradigm::kMpi, RegionRole::kBarrier}};
  all.groups = {{"MPI Rank 0", "node", 1, "", {}}, {"MPI Rank 1", "node", 2, "", {}}};
  all.locations = {{LocationId{0}, "Master thread", LocationGroupId{0}, LocationType::kCpuThread},
                   {LocationId{1}, "Master thread", LocationGroupId{1}, LocationType::kCpuThread}};
  all.communicators = {
      {"MPI_COMM_WORLD", {}, false, {LocationId{0}, LocationId{1}}},
      {"MPI_COMM_SELF", {}, true, {}},
      {"other way round", CommunicatorId{0}, false, {LocationId{1}, LocationId{0}}}};
  run.events[LocationId{0}] = {
      event(1, kCommCreate, 2),
      event(2, kEnter, 0),
      operand(3, OperandKind::kPeerAndTag, pair_of(1, 42)),
      event(3, kMpiSend, 0, 80),
      event(4, kLeave, 0),
      operand(5, OperandKind::kRequest, 9),
      operand(5, OperandKind::kPeerAndTag, pair_of(0, 43)),
      event(5, kMpiIsend, 2, 8),
      event(6, kMpiIsendComplete, 0, 9),
      event(7, kMpiRequestTest, 0, 10),
      event(8, kMpiRequestCancelled, 0, 10),
      event(9, kEnter, 1),
      event(9, kMpiCollectiveBegin),
      operand(10, OperandKind::kPeerAndTag, pair_of(0, kNoRoot)),
      operand(10, OperandKind::kReceived, 0),
      event(10, kMpiCollectiveEnd, 1, 0),
      event(11, kLeave, 1),
  };
  run.events[LocationId{1}] = {
      operand(4, OperandKind::kPeerAndTag, pair_of(0, 42)),
      event(4, kMpiRecv, 0, 80),
      event(5, kMpiIrecvRequest, 0, 1),
      operand(6, OperandKind::kRequest, 1),
      operand(6, OperandKind::kPeerAndTag, pair_of(1, 43)),
      event(6, kMpiIrecv, 2, 8),
      event(7, kMpiCollectiveRequest, 0, 2),
      operand(8, OperandKind::kRequest, 2),
      operand(8, OperandKind::kPeerAndTag,
              pair_of(static_cast<std::uint32_t>(CollectiveKind::kBcast), 1)),
      operand(8, OperandKind::kReceived, 16),
      event(8, kMpiCollectiveComplete, 2, 32),
      event(9, kCommDestroy, 2),
  };
  return run;
}

// Only the values of events, because the order of their operands is free.
std::vector<std::vector<std::uint64_t>> told(const std::vector<Event>& events) {
  std::vector<std::vector<std::uint64_t>> result;
  Operands operands;
  for (const Event& one : events) {
    if (operands.take(one)) continue;
    const bool message = one.kind >= kMpiSend && one.kind <= kMpiIsend;
    const bool collective = one.kind == kMpiCollectiveEnd || one.kind == kMpiCollectiveComplete;
    result.push_back({ticks(one.time), static_cast<std::uint64_t>(one.kind), one.ref, one.value});
    if (message || one.kind == kMpiIrecv || collective) {
      result.back().push_back(operands.peer());
      result.back().push_back(operands.tag());
    }
    if (collective) result.back().push_back(operands.received());
    if (one.kind == kMpiIsend || one.kind == kMpiIrecv || one.kind == kMpiCollectiveComplete) {
      result.back().push_back(operands.request());
    }
  }
  return result;
}

TEST(MpiRoundTrip, KeepsCommunicators) {
  const TemporaryDirectory directory;
  const Story written = job();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  ASSERT_EQ(found.definitions.communicators.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Communicator& one = found.definitions.communicators[i];
    const Communicator& expected = written.definitions.communicators[i];
    EXPECT_EQ(one.name, expected.name);
    EXPECT_EQ(one.parent, expected.parent);
    EXPECT_EQ(one.self, expected.self);
    EXPECT_EQ(one.members, expected.members);
  }
  EXPECT_EQ(found.definitions.regions[0].paradigm, Paradigm::kMpi);
  EXPECT_EQ(found.definitions.regions[1].role, RegionRole::kBarrier);
}

TEST(MpiRoundTrip, KeepsEvents) {
  const TemporaryDirectory directory;
  const Story written = job();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  for (const auto& [location, events] : written.events) {
    EXPECT_EQ(told(found.events.at(location)), told(events));
  }
  EXPECT_EQ(found.definitions.locations[0].event_count, 12u);  // operands are not events
}

}  // namespace
}  // namespace timeloom::otf2
