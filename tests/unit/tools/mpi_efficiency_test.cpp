// The factors of the POP project, for cases computed by hand.
#include "tools/report/mpi/mpi_efficiency.hpp"

#include <gtest/gtest.h>

#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

// Processes have one thread each; the runtime on an ideal network is in ticks.
MpiEfficiency factors(const std::vector<std::string>& processes, std::uint64_t ideal) {
  profile::Story story;
  for (std::uint32_t i = 0; i < processes.size(); ++i) story.thread("main", processes[i], i);
  for (Region& region : story.definitions().regions) {
    if (region.name.starts_with("MPI_")) region.paradigm = Paradigm::kMpi;
  }
  story.definitions().clock.ticks_per_second = 1;
  profile::MessageSummary messages;
  messages.ideal_runtime = ideal;
  const profile::CallTree tree = story.fold();
  return mpi_efficiency(tree, messages).value();
}

// Rank 1 works 60, and waits for rank 0, which works 120; the network takes 15 of the 165.
TEST(MpiEfficiency, OfALateSender) {
  const MpiEfficiency one =
      factors({"main +100 MPI_Send +10 ) +20 )", "main +10 MPI_Recv +105 ) +50 )"}, 150);
  EXPECT_EQ(one.processes, 2U);
  EXPECT_DOUBLE_EQ(one.runtime, 165);
  EXPECT_DOUBLE_EQ(one.load_balance, 90.0 / 120);
  EXPECT_DOUBLE_EQ(one.communication, 120.0 / 165);
  EXPECT_DOUBLE_EQ(*one.serialisation, 120.0 / 150);
  EXPECT_DOUBLE_EQ(*one.transfer, 150.0 / 165);
  EXPECT_DOUBLE_EQ(one.parallel(), 90.0 / 165);
  EXPECT_EQ(one.busiest, 0U);
}

// Both have worked 55 in total, in turns: the balance is perfect, and half of the time is waiting.
TEST(MpiEfficiency, OfWorkThatTakesTurns) {
  const MpiEfficiency one = factors({"main +50 MPI_Barrier +1 ) +5 MPI_Barrier +49 ) )",
                                     "main +5 MPI_Barrier +46 ) +50 MPI_Barrier +4 ) )"},
                                    100);
  EXPECT_DOUBLE_EQ(one.load_balance, 1);
  EXPECT_DOUBLE_EQ(*one.serialisation, 0.55);
  EXPECT_DOUBLE_EQ(*one.transfer, 100.0 / 105);
}

// Each of three ranks works 10 with the token, rank 0 another 1.
TEST(MpiEfficiency, OfARing) {
  const MpiEfficiency one = factors(
      {"main +10 MPI_Send +2 ) MPI_Recv +32 ) +1 )", "main MPI_Recv +13 ) +10 MPI_Send +2 ) )",
       "main MPI_Recv +27 ) +10 MPI_Send +2 ) )"},
      31);
  EXPECT_DOUBLE_EQ(one.runtime, 45);
  EXPECT_NEAR(one.load_balance, 31.0 / 33, 1e-12);
  EXPECT_DOUBLE_EQ(*one.serialisation, 11.0 / 31);
  EXPECT_DOUBLE_EQ(*one.transfer, 31.0 / 45);
}

TEST(MpiEfficiency, OfARunWithoutMpi) {
  profile::Story story;
  story.thread("main", "main +10 )");
  const profile::CallTree tree = story.fold();
  EXPECT_FALSE(mpi_efficiency(tree).has_value());
}

}  // namespace
}  // namespace timeloom::tools
