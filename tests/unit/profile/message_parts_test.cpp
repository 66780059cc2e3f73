// Waiting in operations of all processes and of single threads, in parts of a run, and between two
// groups.
#include "messages_job.hpp"

namespace timeloom::profile {
namespace {

using enum EventKind;

TEST(Messages, AllWaitForTheLastAtABarrier) {
  Job job(3);
  job.collective(0, 10, 35, CollectiveKind::kBarrier);
  job.collective(1, 30, 36, CollectiveKind::kBarrier);
  job.collective(2, 20, 37, CollectiveKind::kBarrier);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(waited(summary, 0, WaitKind::kBarrier), 20u);
  EXPECT_EQ(waited(summary, 1, WaitKind::kBarrier), 0u);
  EXPECT_EQ(waited(summary, 2, WaitKind::kBarrier), 10u);
  const CollectiveTotals& totals = summary.collectives.at(CollectiveKind::kBarrier);
  EXPECT_EQ(totals.count, 3u);
  EXPECT_EQ(totals.sent, 30u);
  EXPECT_EQ(totals.received, 60u);
}

TEST(Messages, NobodyWaitsForAllAtAnOperationBetweenNeighbours) {
  Job job(2);
  job.only_mpi("MPI_Neighbor_alltoall");
  job.collective(0, 10, 35, CollectiveKind::kAlltoall);
  job.collective(1, 30, 36, CollectiveKind::kAlltoall);
  const MessageSummary summary = job.summary();
  EXPECT_TRUE(summary.waits.empty());
  EXPECT_EQ(summary.collectives.at(CollectiveKind::kAlltoall).count, 2u);
  EXPECT_FALSE(summary.ideal_runtime);
}

TEST(Messages, TheRootMakesOthersWaitOrWaits) {
  Job job(2);
  job.collective(0, 50, 60, CollectiveKind::kBcast, 0);
  job.collective(1, 10, 61, CollectiveKind::kBcast, 0);
  job.collective(0, 70, 99, CollectiveKind::kReduce, 0);
  job.collective(1, 90, 95, CollectiveKind::kReduce, 0);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(waited(summary, 1, WaitKind::kLateRoot), 40u);
  EXPECT_EQ(waited(summary, 0, WaitKind::kLateRoot), 0u);
  EXPECT_EQ(waited(summary, 0, WaitKind::kEarlyRoot), 20u);
}

TEST(Messages, OfTheThreadsOfAProcessAreInOneOrder) {
  Job job(2);
  const std::uint32_t thread = job.thread_of(0);
  job.message(0, 10, kMpiSend, 1, 1).message(0, 20, kMpiSend, 1, 2);
  job.message(thread, 30, kMpiSend, 1, 3).message(thread, 40, kMpiSend, 1, 4);
  for (const std::uint64_t i : {1u, 2u, 3u, 4u}) job.message(1, 10 * i + 5, kMpiRecv, 0, i);
  Listened heard;
  EXPECT_EQ(job.summary(&heard).backwards, 0u);
  EXPECT_EQ(heard.bytes,
            (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 1}, {2, 2}, {3, 3}, {4, 4}}));
}

TEST(Messages, TheThreadsOfAProcessTakePartInAnOperationOnce) {
  Job job(2);
  const std::uint32_t thread = job.thread_of(0);
  job.only_mpi();
  job.collective(0, 10, 35, CollectiveKind::kBarrier);
  job.collective(thread, 50, 60, CollectiveKind::kBarrier);
  job.collective(1, 30, 36, CollectiveKind::kBarrier);
  job.collective(1, 55, 61, CollectiveKind::kBarrier);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(waited(summary, 0, WaitKind::kBarrier), 20u + 5u);
  EXPECT_EQ(waited(summary, 1, WaitKind::kBarrier), 0u);
}

// The first message was sent while nothing was recorded.
Job without_first_send() {
  Job job(2);
  job.only_mpi();
  job.add(0, 0, kRecordingOff).add(0, 30, kRecordingOn).message(0, 40, kMpiSend, 1, 2);
  job.message(1, 20, kMpiRecv, 0, 1).message(1, 50, kMpiRecv, 0, 2);
  return job;
}

TEST(Messages, AreNotMatchedWhereEarlierOnesMayBeMissing) {
  const MessageSummary summary = without_first_send().summary();
  EXPECT_EQ(summary.messages, 0u);
  EXPECT_EQ(summary.unmatched, 3u);
  EXPECT_EQ(summary.backwards, 0u);
  EXPECT_TRUE(summary.uncertain);
  EXPECT_EQ(summary.traffic.at({0, 1}).messages, 1u);
}

TEST(Messages, AreMatchedAfterAGapOfBothSides) {
  Job job(2);
  for (const std::uint32_t process : {0u, 1u}) {
    job.enter(process, 0, 1).add(process, 0, kRecordingOff).add(process, 30, kRecordingOn);
  }
  job.only_mpi().message(0, 40, kMpiSend, 1, 2).message(1, 50, kMpiRecv, 0, 2);
  job.collective(0, 60, 75, CollectiveKind::kBarrier);
  job.collective(1, 70, 75, CollectiveKind::kBarrier);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(summary.messages, 1u);
  EXPECT_FALSE(summary.uncertain);
  EXPECT_EQ(waited(summary, 0, WaitKind::kBarrier), 10u);
  EXPECT_FALSE(summary.ideal_runtime);
  EXPECT_EQ(summary.not_ideal,
            "calls of MPI may be missing, since recording was off or events are lost");
}

// Events dropped by a full ring leave no trace of themselves.
TEST(Messages, OfARunThatMissesEventsAreNotMatchedUnlessTheyFit) {
  Job job(2);
  job.message(0, 40, kMpiSend, 1, 1).message(0, 60, kMpiSend, 1, 2);
  job.message(1, 50, kMpiRecv, 0, 1);
  EXPECT_EQ(job.summary().messages, 1u);
  EXPECT_EQ(job.lost("timeloom::older_events").summary().messages, 0u);
  job.message(1, 70, kMpiRecv, 0, 2);
  EXPECT_EQ(job.summary().messages, 2u);
}

// Process 1 has recorded one barrier more, or as many but with another first one.
TEST(Messages, OperationsAreNotComparedWhereEarlierOnesMayBeMissing) {
  for (const bool as_many : {false, true}) {
    Job job(2);
    job.add(0, 0, kRecordingOff).add(0, 40, kRecordingOn);
    job.collective(0, 70, 81, CollectiveKind::kBarrier);
    job.collective(1, 30, 36, CollectiveKind::kBarrier);
    if (!as_many) job.collective(1, 80, 81, CollectiveKind::kBarrier);
    const MessageSummary summary = job.summary();
    EXPECT_TRUE(summary.waits.empty());
    EXPECT_TRUE(summary.uncertain);
    EXPECT_EQ(summary.collectives.at(CollectiveKind::kBarrier).count, as_many ? 2u : 3u);
  }
}

// Processes 0 and 1 are the first group, 2 to 4 the second.
TEST(Messages, RanksBetweenTwoGroupsAreThoseOfTheOtherGroup) {
  const MessageSummary summary = Job(5, 2)
                                     .message(0, 10, kMpiSend, 2, 80)
                                     .message(4, 20, kMpiRecv, 0, 80)
                                     .message(3, 30, kMpiSend, 1, 8)
                                     .message(1, 40, kMpiRecv, 1, 8)
                                     .message(2, 50, kMpiSend, 2, 1)  // to nobody
                                     .summary();
  EXPECT_EQ(summary.messages, 2u);
  EXPECT_EQ(summary.unmatched, 1u);
  EXPECT_EQ(summary.backwards, 0u);
  EXPECT_EQ(summary.traffic.at({0, 4}).bytes, 80u);
  EXPECT_EQ(summary.traffic.at({3, 1}).bytes, 8u);
}

TEST(Messages, OnlyTheOtherGroupWaitsForARoot) {
  Job job(4, 2);
  job.collective(0, 50, 60, CollectiveKind::kBcast, kOwnRoot);
  job.collective(1, 10, 61, CollectiveKind::kBcast, kRootInGroup);
  job.collective(2, 20, 62, CollectiveKind::kBcast, 0);
  job.collective(3, 30, 63, CollectiveKind::kBcast, 0);
  job.collective(1, 70, 80, CollectiveKind::kBarrier);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(waited(summary, 2, WaitKind::kLateRoot), 30u);
  EXPECT_EQ(waited(summary, 3, WaitKind::kLateRoot), 20u);
  EXPECT_EQ(waited(summary, 1, WaitKind::kLateRoot), 0u);
  EXPECT_EQ(summary.collectives.at(CollectiveKind::kBcast).count, 4u);
}

}  // namespace
}  // namespace timeloom::profile
