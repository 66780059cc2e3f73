// Matching of messages, waiting, and messages that arrive before they were sent.
#include "messages_job.hpp"

namespace timeloom::profile {
namespace {

using enum EventKind;

// The definition is equal in all processes, but each one meets only itself.
TEST(Messages, OfAProcessToItself) {
  Job job(2);
  job.in(kSelf).only_mpi();
  for (const std::uint32_t process : {0U, 1U}) {
    const std::uint64_t begin = 100 * process;
    job.enter(process, begin).message(process, begin, EventKind::kMpiIsend, 0, 5 + process, 1);
    job.leave(process, begin + 1).enter(process, begin + 1);
    job.message(process, begin + 2, EventKind::kMpiRecv, 0, 5 + process).leave(process, begin + 2);
    job.collective(process, begin + 10, begin + 12, CollectiveKind::kBarrier);
  }
  const MessageSummary summary = job.summary();
  EXPECT_EQ(summary.messages, 2U);
  EXPECT_EQ(summary.unmatched, 0U);
  ASSERT_EQ(summary.traffic.size(), 2U);
  EXPECT_EQ(summary.traffic.at({0, 0}).bytes, 5U);
  EXPECT_EQ(summary.traffic.at({1, 1}).bytes, 6U);
  EXPECT_EQ(waited(summary, 0, WaitKind::kBarrier), 0U);
  EXPECT_EQ(summary.ideal_runtime, 100U);  // process 1 starts then
}

TEST(Messages, WhereNothingHappensOutsideOfMpiALineSaysSo) {
  Job job(2);
  job.only_mpi();
  for (const std::uint32_t process : {0U, 1U}) {
    job.collective(process, 0, 12, CollectiveKind::kBarrier);
  }
  const MessageSummary summary = job.summary();
  EXPECT_EQ(summary.ideal_runtime, 0U);
  EXPECT_EQ(summary.not_ideal, "all of the time is in MPI");
}

TEST(Messages, AReceiverWaitsForALateSender) {
  const MessageSummary summary = Job(2)
                                     .enter(0, 50)
                                     .message(0, 51, kMpiSend, 1, 80)
                                     .leave(0, 60)
                                     .enter(1, 10)
                                     .message(1, 70, kMpiRecv, 0, 80)
                                     .leave(1, 71)
                                     .summary();
  EXPECT_EQ(waited(summary, 1, WaitKind::kLateSender), 40u);
  EXPECT_EQ(waited(summary, 0, WaitKind::kLateReceiver), 0u);
  EXPECT_EQ(summary.messages, 1u);
  EXPECT_EQ(summary.unmatched, 0u);
  EXPECT_EQ(summary.backwards, 0u);
  const Traffic& traffic = summary.traffic.at({0, 1});
  EXPECT_EQ(traffic.messages, 1u);
  EXPECT_EQ(traffic.bytes, 80u);
}

// Like comm.recv() of mpi4py: it waits from 10 to 52, asks for the size, and receives from 60 on.
// `between`: the function that it calls in between.
Job received_after_probe(std::uint64_t sent, const char* between = "MPI_Get_count_c") {
  Job job(2);
  const std::uint32_t send = job.mpi("MPI_Send"), probe = job.mpi("MPI_Mprobe");
  const std::uint32_t asks = job.mpi(between), receive = job.mpi("MPI_Mrecv");
  job.enter(0, 0, 1).enter(0, sent, send).message(0, sent, kMpiSend, 1, 8).leave(0, sent + 30);
  job.leave(0, 100).enter(1, 0, 1).enter(1, 10, probe).leave(1, 52).enter(1, 53, asks).leave(1, 55);
  job.enter(1, 60, receive).message(1, 64, kMpiRecv, 0, 8).leave(1, 65).leave(1, 100);
  return job;
}

TEST(Messages, AReceiverWaitsForALateSenderInItsProbe) {
  const MessageSummary summary = received_after_probe(50).summary();
  EXPECT_EQ(waited(summary, 1, WaitKind::kLateSender), 40u);
  EXPECT_EQ(waited(summary, 0, WaitKind::kLateReceiver), 10u);  // it is held up until the receive
  EXPECT_EQ(summary.traffic.at({0, 1}).receive_time, 42u + 5u);
  // The probe waits until 50; then follow 1, 5 and 35 of work.
  EXPECT_EQ(summary.ideal_runtime, 91u);
}

TEST(Messages, ThatWereSentAfterTheProbeWereNotProbed) {
  const MessageSummary summary = received_after_probe(62).summary();
  EXPECT_EQ(waited(summary, 1, WaitKind::kLateSender), 2u);
  EXPECT_EQ(summary.ideal_runtime, 97u);
}

TEST(Messages, AProbeBeforeAnotherCallWasForAnotherMessage) {
  const MessageSummary summary = received_after_probe(50, "MPI_Iprobe").summary();
  EXPECT_EQ(waited(summary, 1, WaitKind::kLateSender), 0u);
  EXPECT_EQ(summary.traffic.at({0, 1}).receive_time, 5u);
}

// A call of 11 ticks that completes a send and a receive and makes a call itself; a call that sends
// and receives; and a function outside of MPI, whose time belongs to no message.
TEST(Messages, HaveTheirShareOfTheTimeOfCalls) {
  Job job(2);
  job.only_mpi();
  job.enter(0, 0).message(0, 0, kMpiIsend, 1, 8, 1).leave(0, 3);
  job.enter(0, 3).add(0, 4, kMpiIrecvRequest, 0, 2).leave(0, 5);
  job.enter(0, 10).enter(0, 12).leave(0, 15).add(0, 20, kMpiIsendComplete, 0, 1);
  job.message(0, 20, kMpiIrecv, 1, 4, 2).leave(0, 21);
  job.enter(1, 0).message(1, 0, kMpiSend, 0, 4).enter(1, 1).leave(1, 5);
  job.message(1, 9, kMpiRecv, 0, 8).leave(1, 10);
  job.message(1, 15, kMpiSend, 0, 4);
  job.enter(1, 20, 1).message(1, 20, kMpiSend, 0, 4).leave(1, 30);
  const MessageSummary summary = job.summary();
  const Traffic& there = summary.traffic.at({0, 1});
  EXPECT_EQ(there.send_time, 3u + 6u);
  EXPECT_EQ(there.receive_time, 5u);
  const Traffic& back = summary.traffic.at({1, 0});
  EXPECT_EQ(back.messages, 3u);
  EXPECT_EQ(back.send_time, 5u);
  EXPECT_EQ(back.receive_time, 2u + 5u);
}

// The number of requests for a message does not matter.
TEST(Messages, HaveEqualPartsOfACallThatAsksForThem) {
  Job job(3);
  job.only_mpi();
  job.enter(0, 0).message(0, 0, kMpiIsend, 1, 8, 1).leave(0, 1);
  job.enter(0, 1).message(0, 1, kMpiIsend, 2, 8, 2).leave(0, 2);
  job.enter(0, 10);
  for (int i = 0; i < 5; ++i) job.add(0, 11, kMpiRequestTest, 0, 1);
  job.add(0, 12, kMpiIsendComplete, 0, 2).leave(0, 20);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(summary.traffic.at({0, 1}).send_time, 1u + 5u);
  EXPECT_EQ(summary.traffic.at({0, 2}).send_time, 1u + 5u);
}

TEST(Messages, OfACancelledRequestWereNotSent) {
  Job job(2);
  job.only_mpi();
  job.enter(0, 0).message(0, 0, kMpiIsend, 1, 8, 1).leave(0, 1);
  job.enter(0, 1).message(0, 1, kMpiIsend, 1, 5, 2).leave(0, 2);
  job.enter(0, 10).add(0, 12, kMpiRequestCancelled, 0, 1).leave(0, 20);
  job.enter(0, 20).add(0, 22, kMpiIsendComplete, 0, 2).leave(0, 25);
  job.enter(1, 30).message(1, 31, kMpiRecv, 0, 5).leave(1, 32);
  const MessageSummary summary = job.summary();
  EXPECT_EQ(summary.messages, 1u);
  EXPECT_EQ(summary.unmatched, 0u);
  EXPECT_EQ(summary.traffic.at({0, 1}).bytes, 5u);
  EXPECT_EQ(summary.traffic.at({0, 1}).send_time, 1u + 5u);
}

// Calls inside a blocking send, such as a write to a socket, are not its end.
TEST(Messages, AreSentUntilTheirOwnCallEnds) {
  Job job(2);
  job.enter(0, 0).message(0, 0, kMpiSend, 1, 8).enter(0, 2).leave(0, 4).leave(0, 50);
  job.enter(1, 20).message(1, 45, kMpiRecv, 0, 8).leave(1, 46);
  EXPECT_EQ(waited(job.summary(), 0, WaitKind::kLateReceiver), 20u);
}

TEST(Messages, ASenderWaitsForALateReceiverWhileItSends) {
  Job job(2);
  job.enter(0, 10).message(0, 11, kMpiSend, 1, 8).leave(0, 60);
  job.enter(1, 40).message(1, 61, kMpiRecv, 0, 8).leave(1, 62);
  EXPECT_EQ(waited(job.summary(), 0, WaitKind::kLateReceiver), 30u);
  // The second message was copied: its sender went on before the receiver came.
  job.enter(0, 70).message(0, 71, kMpiSend, 1, 8).leave(0, 72);
  job.enter(1, 90).message(1, 91, kMpiRecv, 0, 8).leave(1, 92);
  EXPECT_EQ(waited(job.summary(), 0, WaitKind::kLateReceiver), 30u);
}

// Two receives from one sender; the second one completes first.
TEST(Messages, ReceivesMatchInTheOrderInWhichTheyWereBegun) {
  const MessageSummary summary = Job(2)
                                     .message(0, 10, kMpiIsend, 1, 1, 1)
                                     .message(0, 20, kMpiIsend, 1, 2, 2)
                                     .add(1, 1, kMpiIrecvRequest, 0, 5)
                                     .add(1, 2, kMpiIrecvRequest, 0, 6)
                                     .message(1, 30, kMpiIrecv, 0, 2, 6)
                                     .message(1, 15, kMpiIrecv, 0, 1, 5)
                                     .summary();
  EXPECT_EQ(summary.messages, 2u);
  EXPECT_EQ(summary.backwards, 0u);  // by the order of completion, 15 would be before 20
}

// Receives started within the limit are completed, in any order; later ones are left out.
TEST(Messages, ALimitKeepsTheFirstOfALocation) {
  Job job(2);
  for (const std::uint64_t bytes : {1u, 2u, 3u, 4u}) {
    job.message(0, 10 * bytes, kMpiIsend, 1, bytes, bytes);
  }
  job.add(1, 1, kMpiIrecvRequest, 0, 5).add(1, 2, kMpiIrecvRequest, 0, 6);
  job.add(1, 3, kMpiIrecvRequest, 0, 7);
  job.message(1, 70, kMpiIrecv, 0, 3, 7).message(1, 71, kMpiIrecv, 0, 2, 6);
  job.message(1, 72, kMpiIrecv, 0, 1, 5).message(1, 73, kMpiRecv, 0, 4);
  Listened two, all;
  const MessageSink::Limit limit = [](const Location& location) -> std::size_t {
    return location.id == LocationId{1} ? 2 : 100;
  };
  EXPECT_EQ(job.summary(&two, limit).messages, 2u);
  EXPECT_EQ(two.bytes, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 1}, {2, 2}}));
  EXPECT_EQ(job.summary(&all).messages, 4u);
  EXPECT_EQ(all.bytes.size(), 4u);
}

TEST(Messages, RequestsOfCollectiveOperationsCountToTheLimit) {
  const MessageSink::Limit two = [](const Location&) -> std::size_t { return 2; };
  const auto messages = [&](std::uint64_t requests) {
    Job job(2);
    for (std::uint64_t i = 0; i < requests; ++i) job.add(0, i, kMpiCollectiveRequest, 0, i);
    job.message(0, 10, kMpiSend, 1, 1).message(1, 20, kMpiRecv, 0, 1);
    Listened heard;
    return job.summary(&heard, two).messages;
  };
  EXPECT_EQ(messages(1), 1u);
  EXPECT_EQ(messages(2), 0u);
}

TEST(Messages, AListenerIsToldOfOperationsWithTheirWaiting) {
  Job job(2);
  job.collective(0, 10, 35, CollectiveKind::kBarrier);
  job.collective(1, 30, 36, CollectiveKind::kBarrier);
  job.collective(0, 50, 60, CollectiveKind::kScan).collective(1, 40, 60, CollectiveKind::kScan);
  Listened heard;
  job.summary(&heard);
  ASSERT_EQ(heard.operations.size(), 2u);
  const std::vector<CollectiveVisit>& barrier = heard.operations[0];
  ASSERT_EQ(barrier.size(), 2u);
  EXPECT_EQ(barrier[0].waited, 20u);
  EXPECT_EQ(barrier[0].waits_for, WaitKind::kBarrier);
  EXPECT_EQ(barrier[0].sent, 10u);
  EXPECT_EQ(barrier[0].received, 20u);
  EXPECT_EQ(barrier[1].waited, 0u);
  EXPECT_FALSE(heard.operations[1][0].waits_for);
}

// Two messages received in the other order, and one that is never received.
TEST(Messages, EndsKnowTheirPlacesInTheirLocations) {
  Listened heard;
  Job(2)
      .message(0, 10, kMpiIsend, 1, 1, 1)
      .message(0, 20, kMpiIsend, 1, 2, 2)
      .message(0, 25, kMpiSend, 1, 3, 0, 8)
      .add(1, 1, kMpiIrecvRequest, 0, 5)
      .add(1, 2, kMpiIrecvRequest, 0, 6)
      .message(1, 30, kMpiIrecv, 0, 2, 6)
      .message(1, 31, kMpiIrecv, 0, 1, 5)
      .summary(&heard);
  EXPECT_EQ(heard.places, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 0}}));
}

TEST(Messages, CountsWhatArrivesBeforeItWasSent) {
  const MessageSummary summary = Job(2)
                                     .message(0, 100, kMpiSend, 1, 1)
                                     .message(1, 70, kMpiRecv, 0, 1)
                                     .message(1, 75, kMpiRecv, 0, 1)
                                     .summary();
  EXPECT_EQ(summary.backwards, 1u);
  EXPECT_EQ(summary.most_backwards, 30u);
  EXPECT_EQ(summary.unmatched, 1u);
}

}  // namespace
}  // namespace timeloom::profile
