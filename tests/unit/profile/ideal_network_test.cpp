// The runtime on an ideal network, for cases computed by hand.
#include "profile/ideal_network.hpp"

#include <gtest/gtest.h>

namespace timeloom::profile {
namespace {

using ProcessCall = IdealNetwork::ProcessCall;
using Process = IdealNetwork::Process;

// Rank 0 works 100 and sends; rank 1 works 10, and waits from 10 to 115 for data that is there at
// 100.
TEST(IdealNetwork, AReceiveWaitsForItsLateSender) {
  IdealNetwork network;
  network.add_process(0, {0, {{100, 110, 100}}, 20});
  network.add_process(1, {0, {{10, 115, 10}}, 50});
  network.add_dependency({ProcessCall{0, 0}}, {ProcessCall{1, 0}});
  EXPECT_EQ(network.runtime(), 150U);  // rank 0: 100 + 20; rank 1: 100 + 50
}

// The message arrived earlier: the remaining time of the call is transfer.
TEST(IdealNetwork, AReceiveOfAnEarlySenderTakesNoTime) {
  IdealNetwork network;
  network.add_process(0, {0, {{10, 15, 10}}, 0});
  network.add_process(1, {0, {{40, 60, 40}}, 5});
  network.add_dependency({ProcessCall{0, 0}}, {ProcessCall{1, 0}});
  EXPECT_EQ(network.runtime(), 45U);
}

// On the machine the send takes from 10 to 60, because the receiver comes at 50.
TEST(IdealNetwork, ASendWaitsForNobody) {
  IdealNetwork network;
  network.add_process(0, {0, {{10, 60, 10}}, 70});
  network.add_process(1, {0, {{50, 60, 50}}, 5});
  network.add_dependency({ProcessCall{0, 0}}, {ProcessCall{1, 0}});
  EXPECT_EQ(network.runtime(), 80U);
}

TEST(IdealNetwork, ABarrierWaitsForTheLast) {
  IdealNetwork network;
  network.add_process(0, {0, {{10, 43, 10}}, 30});
  network.add_process(1, {0, {{40, 43, 40}}, 10});
  network.add_process(2, {0, {{25, 44, 25}}, 5});
  const std::vector<ProcessCall> all = {{0, 0}, {1, 0}, {2, 0}};
  network.add_dependency(all, all);
  EXPECT_EQ(network.runtime(), 70U);  // 40 + 30
}

// Two barriers; a different process is last each time. The most work of a process is 55.
TEST(IdealNetwork, WorkThatTakesTurnsIsSerial) {
  IdealNetwork network;
  network.add_process(0, {0, {{50, 51, 50}, {56, 105, 5}}, 0});
  network.add_process(1, {0, {{5, 51, 5}, {101, 105, 50}}, 0});
  for (std::uint32_t call = 0; call < 2; ++call) {
    const std::vector<ProcessCall> all = {{0, call}, {1, call}};
    network.add_dependency(all, all);
  }
  EXPECT_EQ(network.runtime(), 100U);  // 50 + 50
}

// A token goes round: each of three ranks works 10 while it has it, rank 0 another 1 at the end.
TEST(IdealNetwork, ARingTakesTheWorkOfAll) {
  IdealNetwork network;
  network.add_process(0, {0, {{10, 12, 10}, {12, 44, 0}}, 1});
  network.add_process(1, {0, {{0, 13, 0}, {23, 25, 10}}, 0});
  network.add_process(2, {0, {{0, 27, 0}, {37, 39, 10}}, 0});
  network.add_dependency({ProcessCall{0, 0}}, {ProcessCall{1, 0}});
  network.add_dependency({ProcessCall{1, 1}}, {ProcessCall{2, 0}});
  network.add_dependency({ProcessCall{2, 1}}, {ProcessCall{0, 1}});
  EXPECT_EQ(network.runtime(), 31U);
}

// The receive starts in call 0 and completes in call 1, long after the message arrived.
TEST(IdealNetwork, WorkBetweenTheBeginOfAReceiveAndItsEndHidesTheMessage) {
  IdealNetwork network;
  network.add_process(0, {0, {{30, 32, 30}}, 0});
  network.add_process(1, {0, {{5, 6, 5}, {56, 59, 50}}, 2});
  network.add_dependency({ProcessCall{0, 0}}, {ProcessCall{1, 1}});
  EXPECT_EQ(network.runtime(), 57U);  // 5 + 50 + 2
}

TEST(IdealNetwork, AProcessThatBeginsLateIsLate) {
  IdealNetwork network;
  network.add_process(0, {1000, {{1010, 1035, 10}}, 0});
  network.add_process(1, {1020, {{1030, 1035, 10}}, 3});
  const std::vector<ProcessCall> all = {{0, 0}, {1, 0}};
  network.add_dependency(all, all);
  EXPECT_EQ(network.runtime(), 33U);  // 20 + 10 + 3
}

TEST(IdealNetwork, NothingIsKnownWhereACallIsMissingOrComesTooLate) {
  EXPECT_EQ(IdealNetwork().runtime(), std::nullopt);
  IdealNetwork missing;
  missing.add_process(0, {0, {{10, 20, 10}}, 0});
  missing.add_dependency({ProcessCall{1, 0}}, {ProcessCall{0, 0}});
  EXPECT_EQ(missing.runtime(), std::nullopt);
  IdealNetwork late;  // by the clocks, the message was sent after its arrival
  late.add_process(0, {0, {{30, 40, 30}}, 0});
  late.add_process(1, {0, {{10, 20, 10}}, 0});
  late.add_dependency({ProcessCall{0, 0}}, {ProcessCall{1, 0}});
  EXPECT_EQ(late.runtime(), std::nullopt);
}

TEST(IdealNetwork, AProcessIsAddedOnce) {
  IdealNetwork network;
  EXPECT_TRUE(network.add_process(7, {0, {}, 5}));
  EXPECT_FALSE(network.add_process(7, {0, {}, 50}));
  EXPECT_EQ(network.runtime(), 5U);
}

}  // namespace
}  // namespace timeloom::profile
