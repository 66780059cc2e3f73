// Messages with one end are found, for any order of events and locations.

#include "weave/message_balance.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/mpi/communicator_groups.hpp"
#include "core/mpi/mpi_event.hpp"

namespace timeloom::weave {
namespace {

using enum EventKind;

struct Message {
  EventKind kind;
  std::uint32_t communicator, peer, tag;
};

// Two processes of two threads, and a third of one; ids are those of Score-P's layout.
Definitions three_processes() {
  Definitions definitions;
  definitions.groups.resize(3);
  for (const std::uint64_t id : {0ul, 1ul, 2ul, 1ul << 32, (1ul << 32) + 1}) {
    const LocationGroupId group{static_cast<std::uint32_t>(id)};
    definitions.locations.push_back({LocationId{id}, "", group});
  }
  Communicator world, self, between;
  world.members = {LocationId{2}, LocationId{1}, LocationId{0}};  // ranks differ from process
                                                                  // numbers
  self.self = true;
  between.members = {LocationId{0}, kSecondGroup, LocationId{1}, LocationId{2}};
  world.identity = 7;
  between.identity = 8;
  definitions.communicators = {world, self, between};
  return definitions;
}

class MessageBalanceTest : public testing::Test {
 protected:
  MessageBalanceTest() { balance_.begin(definitions_); }

  void replay(std::size_t location, const std::vector<Message>& messages) {
    replay(balance_, location, messages);
  }
  void replay(MessageBalance& balance, std::size_t location, const std::vector<Message>& messages) {
    const auto sink = balance.open_location(definitions_.locations[location]);
    std::vector<Event> events;
    for (const Message& one : messages) {
      events.push_back(operand({}, OperandKind::kPeerAndTag, pair_of(one.peer, one.tag)));
      events.push_back({{}, one.kind, one.communicator, 8});
    }
    sink->consume(events);
    sink->finish();
  }

  Definitions definitions_ = three_processes();
  MessageBalance balance_;
};

TEST_F(MessageBalanceTest, AllHaveBothEnds) {
  replay(0, {{kMpiRecv, 0, 0, 5}, {kMpiSend, 0, 1, 6}, {kMpiSend, 1, 0, 7}, {kMpiRecv, 1, 0, 7}});
  EXPECT_FALSE(balance_.complete());
  replay(2, {{kMpiIsend, 0, 2, 5}});
  EXPECT_FALSE(balance_.complete());
  replay(4, {{kMpiIrecv, 0, 2, 6}});  // a further thread of process 1
  EXPECT_TRUE(balance_.complete());
}

TEST_F(MessageBalanceTest, AnEndAloneIsFound) {
  replay(0, {{kMpiSend, 0, 1, 6}, {kMpiSend, 0, 1, 6}});
  replay(1, {{kMpiRecv, 0, 2, 6}});
  EXPECT_FALSE(balance_.complete());
}

TEST_F(MessageBalanceTest, EndsOfDifferentMessagesAreNone) {
  for (const Message& other :
       {Message{kMpiRecv, 0, 2, 7}, {kMpiRecv, 0, 1, 6}, {kMpiRecv, 1, 0, 6}}) {
    MessageBalance one;
    one.begin(definitions_);
    replay(one, 0, {{kMpiSend, 0, 1, 6}});
    replay(one, 1, {other});
    EXPECT_FALSE(one.complete());
  }
}

TEST_F(MessageBalanceTest, BetweenTwoGroupsRanksAreThoseOfTheOther) {
  replay(0, {{kMpiSend, 2, 1, 6}});
  replay(1, {{kMpiSend, 2, 0, 7}});
  replay(2, {{kMpiRecv, 2, 0, 6}});
  EXPECT_FALSE(balance_.complete());
  replay(3, {{kMpiRecv, 2, 0, 7}});
  EXPECT_TRUE(balance_.complete());
}

TEST_F(MessageBalanceTest, RecordingThatWasOffIsIncomplete) {
  replay(0, {{kRecordingOff, 0, 0, 0}});
  EXPECT_FALSE(balance_.complete());
}

TEST_F(MessageBalanceTest, AProcessThatIsNotKnownIsIncomplete) {
  replay(0, {{kMpiSend, 0, 9, 6}, {kMpiRecv, 0, 9, 6}});
  EXPECT_FALSE(balance_.complete());
}

TEST_F(MessageBalanceTest, WithoutMpiNobodyAsks) {
  EXPECT_TRUE(MessageBalance::wanted(definitions_));
  EXPECT_FALSE(MessageBalance::wanted(Definitions{}));
}

}  // namespace
}  // namespace timeloom::weave
