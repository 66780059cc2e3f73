// Ranks of processes: from parents, names and births; never from their start times.
#include "weave/process_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace timeloom::weave {
namespace {

using Names = std::vector<std::string>;

ProcessBirth born(const std::string& spool, const std::string& parent, const std::string& name,
                  std::uint64_t process_id, std::uint64_t begin, bool timed = true) {
  return {spool, parent, name, process_id, timed, Timestamp{begin}};
}

Names ranked(const std::vector<ProcessBirth>& processes) {
  Names names;
  for (const std::size_t i : order_of(processes)) names.push_back(processes[i].name);
  return names;
}

// The order in which the spools are found does not matter.
void expect_ranks(std::vector<ProcessBirth> processes, const Names& names) {
  std::ranges::sort(processes, {}, &ProcessBirth::spool);
  do {
    EXPECT_EQ(ranked(processes), names);
  } while (std::ranges::next_permutation(processes, {}, &ProcessBirth::spool).found);
}

TEST(ProcessOrderTest, WorkersAreInOrderOfTheirNamesNotOfTheirBegin) {
  expect_ranks({born("p", "", "program", 100, 1), born("a", "p", "Worker-9", 101, 50),
                born("b", "p", "Worker-10", 102, 20), born("c", "p", "Worker-1", 103, 40),
                born("d", "p", "Feeder", 104, 60)},
               {"program", "Feeder", "Worker-1", "Worker-9", "Worker-10"});
}

TEST(ProcessOrderTest, RanksOfALauncherAreInTheirOrderWithTheirChildren) {
  const auto rank = [](const std::string& spool, std::uint32_t number, std::uint64_t begin) {
    ProcessBirth birth = born(spool, "", "rank " + std::to_string(number), 7, begin);
    birth.rank = number;
    return birth;
  };
  expect_ranks({rank("rank-0/a", 0, 9), rank("rank-10/a", 10, 1), rank("rank-2/a", 2, 5),
                born("rank-2/b", "rank-2/a", "child", 8, 6), born("x", "", "stray", 1, 0)},
               {"rank 0", "rank 2", "child", "rank 10", "stray"});
}

TEST(ProcessOrderTest, SpawnedProcessesFollowOtherChildrenBySpawnAndRank) {
  const auto spawned = [](std::uint32_t spawn, std::uint32_t number, std::uint64_t process_id) {
    const std::string name = std::to_string(spawn) + "." + std::to_string(number);
    ProcessBirth birth = born("s" + name, "p", name, process_id, 1);
    birth.rank = number;
    birth.spawn = spawn;
    return birth;
  };
  expect_ranks({born("p", "", "program", 100, 1), spawned(2, 0, 101), spawned(1, 10, 102),
                spawned(1, 9, 103), born("z", "p", "worker", 104, 50)},
               {"program", "worker", "1.9", "1.10", "2.0"});
}

TEST(ProcessOrderTest, NumbersInNamesCountAsSuch) {
  expect_ranks({born("p", "", "program", 1, 1), born("a", "p", "w-2:10", 2, 2),
                born("b", "p", "w-2:9", 3, 3), born("c", "p", "w-02", 4, 4),
                born("d", "p", "w-2x", 5, 5), born("e", "p", "w-12345678901234567890", 6, 6)},
               {"program", "w-02", "w-2:9", "w-2:10", "w-2x", "w-12345678901234567890"});
}

TEST(ProcessOrderTest, ThoseOfOneNameAreInOrderOfTheirBirths) {
  const auto ids_of = [](const std::vector<ProcessBirth>& processes) {
    std::vector<std::uint64_t> ids;
    for (const std::size_t i : order_of(processes)) ids.push_back(processes[i].process_id);
    return ids;
  };
  // Process ids have wrapped around.
  EXPECT_EQ(ids_of({born("p", "", "x", 32000, 1), born("a", "p", "x", 300, 7),
                    born("b", "p", "x", 32760, 9), born("c", "p", "x", 310, 8)}),
            (std::vector<std::uint64_t>{32000, 32760, 300, 310}));
}

TEST(ProcessOrderTest, AProcessIsFollowedByAllThatItStarted) {
  expect_ranks({born("p", "", "program", 1, 1), born("a", "p", "server", 2, 2),
                born("b", "a", "worker-2", 9, 3), born("c", "a", "worker-1", 8, 4),
                born("d", "p", "tracker", 3, 5)},
               {"program", "server", "worker-1", "worker-2", "tracker"});
}

TEST(ProcessOrderTest, RootsAreInTheOrderOfTheirBegin) {
  expect_ranks({born("p", "", "program", 9, 1), born("q", "lost", "of a lost process", 1, 2),
                born("a", "q", "its child", 2, 3), born("r", "", "no time", 3, 0, false)},
               {"program", "of a lost process", "its child", "no time"});
}

TEST(ProcessOrderTest, ProcessesThatAreTheirOwnParentsAreThereOnce) {
  expect_ranks({born("a", "b", "one", 1, 1), born("b", "a", "other", 2, 2)}, {"one", "other"});
  expect_ranks({born("a", "a", "own", 1, 1)}, {"own"});
}

TEST(ProcessOrderTest, ALongChainNeedsNoStack) {
  std::vector<ProcessBirth> chain;
  for (int i = 0; i < 100'000; ++i) {
    chain.push_back(born(std::to_string(i), std::to_string(i - 1), "x", 1, 1));
  }
  EXPECT_EQ(order_of(chain).size(), chain.size());
  EXPECT_EQ(order_of(chain).back(), chain.size() - 1);
}

}  // namespace
}  // namespace timeloom::weave
