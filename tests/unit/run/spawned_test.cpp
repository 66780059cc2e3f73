// Groups of spawned processes in a run: the places of their spools, and the last group.
#include "run/spawned_group.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "../support/temp_directory.hpp"
#include "os/directory.hpp"
#include "run/spools.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

class SpawnedTest : public testing::Test {
 protected:
  SpawnedTest() {
    fs::create_directory(run());
    mark_job(run(), "job", "run");
  }
  fs::path run() const { return base_ / "run"; }
  // The actions of the spawning process.
  void spawn(std::uint32_t number) const {
    fs::create_directories(run() / "spool/spawned" / std::to_string(number));
  }

  test::TempDirectory base_;
};

TEST_F(SpawnedTest, ARankOfASpawnIsTakenOnceAndItsSpoolsAreFound) {
  spawn(2);
  EXPECT_TRUE(join_spawn(run(), 2, 1));
  EXPECT_FALSE(join_spawn(run(), 2, 1));
  EXPECT_TRUE(join_spawn(run(), 2, 0));
  take_rank(run(), 0);
  EXPECT_EQ(spools_of_spawned(run(), 2, 1), run() / "spool/spawned/2/rank-1");
  fs::create_directory(spools_of_rank(run(), 0) / "a");
  fs::create_directory(spools_of_spawned(run(), 2, 1) / "b");
  EXPECT_EQ(count_spools(run()), 2u);
  int error = 0;
  const auto spools = spools_in(os::Directory::open((run() / "spool").string(), &error), &error);
  EXPECT_EQ(std::vector<std::string>(spools.end() - 2, spools.end()),
            (std::vector<std::string>{"rank-0/a", "spawned/2/rank-1/b"}));
}

TEST_F(SpawnedTest, SpoolsOfPartsAreFoundAndLinksInTheirPlaceAreNot) {
  const fs::path parts = run() / "spool/parts", elsewhere = base_ / "elsewhere";
  fs::create_directories(parts / "7-1/spool/a");
  fs::create_directories(parts / "7-2");
  fs::create_directories(elsewhere / "spool/b");
  fs::create_directory_symlink(elsewhere, parts / "link");
  EXPECT_EQ(count_spools(run()), 1u);
  int error = 0;
  const auto spools = spools_in(os::Directory::open((run() / "spool").string(), &error), &error);
  EXPECT_EQ(spools.back(), "parts/7-1/spool/a");
}

TEST_F(SpawnedTest, NoLinkInTheRunLeadsOutOfIt) {
  const fs::path elsewhere = base_ / "elsewhere", spool = run() / "spool";
  fs::create_directories(elsewhere / "1");
  fs::create_directory_symlink(elsewhere, spool / "spawned");
  EXPECT_THROW(join_spawn(run(), 1, 0), fs::filesystem_error);
  EXPECT_EQ(end_spawned(run(), 1, 0, 1), Others::kGoOn);
  EXPECT_FALSE(end_group(run(), 1));
  EXPECT_TRUE(fs::is_empty(elsewhere / "1"));
}

TEST_F(SpawnedTest, WithoutASpawnTheRanksAreTheLast) { EXPECT_TRUE(end_group(run(), 0)); }

TEST_F(SpawnedTest, TheGroupThatEndsLastIsTheLastInWhateverOrder) {
  for (const std::vector<std::uint32_t>& order :
       {std::vector<std::uint32_t>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}}) {
    for (const std::uint32_t number : {1u, 2u}) {
      spawn(number);
      join_spawn(run(), number, 0);
    }
    EXPECT_FALSE(end_group(run(), order[0]));
    EXPECT_FALSE(end_group(run(), order[1]));
    EXPECT_TRUE(end_group(run(), order[2]));
    fs::remove_all(run() / "spool/spawned");
    fs::remove_all(run() / "spool/ended");
  }
}

TEST_F(SpawnedTest, NobodyWaitsForASpawnThatHasNotJoined) {
  spawn(1);
  EXPECT_TRUE(end_group(run(), 0));
}

TEST_F(SpawnedTest, TheRanksOfASpawnEndAsThoseOfAJob) {
  spawn(1);
  for (const std::uint32_t rank : {0u, 1u, 2u}) join_spawn(run(), 1, rank);
  EXPECT_EQ(end_spawned(run(), 1, 2, 3), Others::kGoOn);
  EXPECT_EQ(end_spawned(run(), 1, 0, 3), Others::kGoOn);
  EXPECT_EQ(end_spawned(run(), 1, 1, 3), Others::kEnded);
}

TEST_F(SpawnedTest, OneGroupIsLastOfThoseThatEndAtOnce) {
  constexpr std::uint32_t kSpawns = 16;
  for (std::uint32_t number = 1; number <= kSpawns; ++number) {
    spawn(number);
    join_spawn(run(), number, 0);
  }
  std::atomic<int> last = 0;
  std::vector<std::thread> groups;
  for (std::uint32_t number = 0; number <= kSpawns; ++number) {
    groups.emplace_back([&, number] { last += end_group(run(), number) ? 1 : 0; });
  }
  for (std::thread& group : groups) group.join();
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace timeloom::run
