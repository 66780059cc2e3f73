// The run that ranks share: which one creates it, which ones join, which one is last; with threads
// that act as ranks.
#include "run/job.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "core/life.hpp"
#include "core/spool_name.hpp"
#include "os/process.hpp"
#include "os/thread.hpp"
#include "run/contents.hpp"
#include "run/open_directory.hpp"
#include "run/spools.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

class JobTest : public testing::Test {
 protected:
  fs::path run() const { return base_ / "run"; }
  void make_run(const std::string& job = "job") const {
    fs::create_directory(run());
    mark_job(run(), job, "run");
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(base_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  test::TempDirectory base_;
};

TEST_F(JobTest, NoLinkInTheRunLeadsOutOfIt) {
  const fs::path elsewhere = base_ / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_directory(run());
  fs::create_directory_symlink(elsewhere, run() / "spool");
  EXPECT_THROW(mark_job(run(), "job", "run"), fs::filesystem_error);
  EXPECT_THROW(take_rank(run(), 0), fs::filesystem_error);
  EXPECT_EQ(end_rank(run(), 0, 1), Others::kGoOn);
  fs::remove(run() / "spool");
  mark_job(run(), "job", "run");
  fs::create_directory_symlink(elsewhere, run() / "spool/rank-0");
  EXPECT_THROW(take_rank(run(), 0), fs::filesystem_error);
  fs::create_directory_symlink(elsewhere, run() / "spool/ended");
  EXPECT_EQ(end_rank(run(), 0, 2), Others::kGoOn);
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

TEST_F(JobTest, OneOfManyMakesTheRunAndTheOthersFindIt) {
  constexpr int kRanks = 64;
  std::atomic<int> makers = 0, found = 0;
  std::vector<std::thread> ranks;
  for (int i = 0; i < kRanks; ++i) {
    ranks.emplace_back([&] {
      const JobPointer pointer(base_.path(), "job", "run");
      if (pointer.claim()) {
        ++makers;
        make_run();
        pointer.publish(run());
      } else if (pointer.wait() == run()) {
        ++found;
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(makers, 1);
  EXPECT_EQ(found, kRanks - 1);
}

TEST_F(JobTest, WhatIsMadeAnewIsNamedByWhoMakesIt) {
  const JobPointer pointer(base_.path(), "job", "");
  EXPECT_FALSE(pointer.exists());
  ASSERT_TRUE(pointer.claim());
  EXPECT_TRUE(pointer.exists());
  pointer.withdraw();  // it could not be created
  EXPECT_FALSE(pointer.exists());
  EXPECT_EQ(pointer.wait(), std::nullopt);
  ASSERT_TRUE(pointer.claim());
  pointer.publish(base_ / "below/timeloom-app-1");
  EXPECT_EQ(pointer.wait(), base_ / "below/timeloom-app-1");
}

TEST_F(JobTest, JobsAndWishesHavePointersOfTheirOwn) {
  EXPECT_TRUE(JobPointer(base_.path(), "a", "").claim());
  EXPECT_TRUE(JobPointer(base_.path(), "b", "").claim());
  EXPECT_TRUE(JobPointer(base_.path(), "a", "x").claim());
  EXPECT_FALSE(JobPointer(base_.path(), "a", "x").claim());
  EXPECT_THROW((void)JobPointer(base_.path() / "none", "a", "").claim(), EnvironmentError);
}

TEST_F(JobTest, ARunIsOfOneJob) {
  make_run("a");
  EXPECT_TRUE(run_of_job(run(), "a"));
  for (const char* other : {"", "b", "a\n", "aa"}) EXPECT_FALSE(run_of_job(run(), other)) << other;
  EXPECT_FALSE(run_of_job(base_ / "none", "a"));
  fs::remove(run() / "spool" / "job");
  fs::create_symlink(base_ / "elsewhere", run() / "spool" / "job");
  std::ofstream(base_ / "elsewhere") << "a\nrun";
  EXPECT_FALSE(run_of_job(run(), "a"));  // links inside a run are not followed
}

TEST_F(JobTest, ARankIsTakenOnce) {
  make_run();
  EXPECT_TRUE(take_rank(run(), 3));
  EXPECT_FALSE(take_rank(run(), 3));
  EXPECT_TRUE(take_rank(run(), 4));
  EXPECT_EQ(spools_of_rank(run(), 3), run() / "spool" / "rank-3");
  EXPECT_EQ(rank_of_directory("rank-3"), 3u);
  for (const char* none : {"rank-", "rank-x", "rank-3x", "3", "host-1-2-0", "rank--1"}) {
    EXPECT_EQ(rank_of_directory(none), std::nullopt) << none;
  }
}

TEST_F(JobTest, ExactlyTheLastIsLastInWhateverOrderTheyEnd) {
  for (const std::uint32_t size : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 64u}) {
    std::vector<std::uint32_t> order(size);
    for (std::uint32_t i = 0; i < size; ++i) order[i] = i;
    for (int round = 0; round < 20; ++round) {
      make_run();
      for (std::uint32_t i = 0; i < size; ++i) {
        EXPECT_EQ(end_rank(run(), order[i], size) == Others::kEnded, i + 1 == size)
            << size << " " << i;
      }
      fs::remove_all(run());
      for (std::uint32_t i = size; i > 1; --i) {  // a different order each time, equal in each test
                                                  // run
        std::swap(order[i - 1], order[(i * 7919u + static_cast<std::uint32_t>(round)) % i]);
      }
    }
  }
}

TEST_F(JobTest, OneIsLastOfThoseThatEndAtOnce) {
  constexpr std::uint32_t kRanks = 61;
  make_run();
  for (std::uint32_t i = 0; i < kRanks; ++i) ASSERT_TRUE(take_rank(run(), i));
  std::atomic<int> last = 0;
  std::vector<std::thread> ranks;
  for (std::uint32_t i = 0; i < kRanks; ++i) {
    ranks.emplace_back([&, i] { last += end_rank(run(), i, kRanks) == Others::kEnded ? 1 : 0; });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(last, 1);
  // All that they have created: a node for every two, and the top.
  std::size_t nodes = 0;
  for ([[maybe_unused]] const auto& node : fs::directory_iterator(run() / "spool/ended")) ++nodes;
  EXPECT_EQ(nodes, kRanks);
}

TEST_F(JobTest, ARankSeesWhetherTheOthersHaveBegun) {
  make_run();
  take_rank(run(), 0);
  EXPECT_EQ(end_rank(run(), 0, 4), Others::kNotHere);
  take_rank(run(), 1);
  EXPECT_EQ(end_rank(run(), 1, 4), Others::kNotHere);  // 2 and 3 are not
  take_rank(run(), 2);
  take_rank(run(), 3);
  ASSERT_EQ(write_life(spools_of_rank(run(), 2).string()), 0);
  EXPECT_EQ(end_rank(run(), 3, 4), Others::kGoOn);
  EXPECT_EQ(end_rank(run(), 2, 4), Others::kEnded);
}

// Rank 3 is not measured.
TEST_F(JobTest, WhereARankNeverBeginsTheLastOfTheOthersIsToldSo) {
  for (const bool first_finds_out : {false, true}) {
    fs::remove_all(run());
    make_run();
    const auto lives = [&](std::uint32_t rank) { return spools_of_rank(run(), rank) / kLifeName; };
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      ASSERT_TRUE(take_rank(run(), rank));
      ASSERT_EQ(write_life(spools_of_rank(run(), rank).string()), 0);
    }
    EXPECT_TRUE(others_record(run(), 0));
    const std::vector<std::uint32_t> order =
        first_finds_out ? std::vector{2u, 1u, 0u} : std::vector{0u, 1u, 2u};
    std::vector<Others> told;
    for (const std::uint32_t rank : order) {
      fs::remove(lives(rank));
      told.push_back(end_rank(run(), rank, 4));
    }
    EXPECT_EQ(told, (std::vector{Others::kGoOn, Others::kGoOn, Others::kNotHere}));
    take_rank(run(), 3);  // late
    EXPECT_TRUE(others_record(run(), 0));
    EXPECT_EQ(end_rank(run(), 3, 4), Others::kEnded);
  }
}

TEST_F(JobTest, ARankThatEndsWaitsForOneThatBeginsLater) {
  make_run();
  take_rank(run(), 0);
  std::thread late([&] {
    while (!fs::exists(run() / "spool/ended/1-0")) std::this_thread::yield();  // rank 0 ends
    take_rank(run(), 1);
  });
  EXPECT_EQ(end_rank(run(), 0, 2, std::chrono::hours(1)), Others::kGoOn);
  late.join();
  EXPECT_EQ(end_rank(run(), 1, 2), Others::kEnded);
}

TEST_F(JobTest, RanksShareARun) {
  const auto share = [&](const std::string& job, std::uint32_t rank) {
    return share_run(base_.path(), {job, "run", rank, 2}, [&](unsigned) {
      if (!fs::create_directory(run())) throw Error("there is one");
      return run();
    });
  };
  const SharedRun first = share("a", 1), second = share("a", 0);
  EXPECT_EQ(first.run.path(), run());
  EXPECT_TRUE(first.made && !second.made);
  EXPECT_EQ(second.run.path(), run());
  EXPECT_THROW(share("b", 0), Error);  // the next rank notices it, too
  EXPECT_THROW(share("b", 1), Error);
  fs::remove_all(run());
  EXPECT_EQ(share("a", 0).refused, "the run of its job is not there");
}

TEST_F(JobTest, RanksShareARunOfEachOfTheirPrograms) {
  const auto share = [&](std::uint32_t rank) {
    return share_run(base_.path(), {"a", "run", rank, 2}, [&](unsigned program) {
      const fs::path path = base_ / ("run" + std::to_string(program));
      fs::create_directory(path);
      return path;
    });
  };
  EXPECT_EQ(fs::path(share(0).run.path()).filename(), "run1");
  EXPECT_EQ(fs::path(share(0).run.path()).filename(), "run2");  // rank 1 has yet to join the first
  EXPECT_EQ(fs::path(share(1).run.path()).filename(), "run1");
  forget_job(Directory(base_ / "run1"));  // as it is woven
  EXPECT_EQ(fs::path(share(1).run.path()).filename(), "run2");
  EXPECT_EQ(fs::path(share(1).run.path()).filename(), "run3");
  EXPECT_EQ(fs::path(share(0).run.path()).filename(), "run3");
}

TEST(SpoolName, HostsOfOneNameInTwoDomainsAreTwo) {
  EXPECT_EQ(host_word("node-1.a"), "node_1__a");
  EXPECT_NE(host_word("node.a"), host_word("node.b"));
  const std::string mine = spool_name_of(1);
  EXPECT_TRUE(mine.starts_with(host_word(os::hostname()) + "-1-"));
  EXPECT_TRUE(maker_is_gone(host_word(os::hostname()) + "-1-0-0"));
  EXPECT_FALSE(maker_is_gone(host_word(os::hostname() + ".b") + "-1-0-0"));
}

// Its program has ended, but the process that started it has yet to end the rank.
TEST_F(JobTest, ARankWithALifeOfItsOwnIsNotGone) {
  const std::string mine = spool_name_of(os::process_id());
  const std::string gone = mine.substr(0, mine.find('-', mine.find('-') + 1)) + "-1-0";
  for (const bool lives : {false, true}) {
    fs::remove_all(run());
    make_run();
    fs::create_directory(run() / "spool");
    for (const std::uint32_t rank : {0u, 1u}) ASSERT_TRUE(take_rank(run(), rank));
    fs::create_directory(spools_of_rank(run(), 1) / gone);
    ASSERT_EQ(lives ? write_life(spools_of_rank(run(), 1).string()) : 0, 0);
    EXPECT_EQ(end_rank(run(), 0, 2), lives ? Others::kGoOn : Others::kEnded);
    EXPECT_EQ(end_rank(run(), 1, 2), lives ? Others::kEnded : Others::kGoOn);
  }
}

TEST_F(JobTest, OfRanksThatAreGoneNobodyComesToTheTree) {
  make_run();
  fs::create_directory(run() / "spool");
  for (std::uint32_t rank = 0; rank < 4; ++rank) ASSERT_TRUE(take_rank(run(), rank));
  const auto spool = [&](std::uint32_t rank, const std::string& name) {
    fs::create_directory(spools_of_rank(run(), rank) / name);
  };
  // As if by another process that had this one's number.
  const std::string mine = spool_name_of(os::process_id());
  const std::string gone = mine.substr(0, mine.find('-', mine.find('-') + 1)) + "-1-";
  ASSERT_NE(gone, mine);
  spool(1, gone + "0");
  spool(3, mine + "0");
  EXPECT_EQ(end_rank(run(), 0, 4), Others::kGoOn);  // on behalf of rank 1, too; 2 and 3 are there
  spool(2, gone + "0");
  EXPECT_EQ(end_rank(run(), 3, 4), Others::kEnded);
  EXPECT_EQ(end_rank(run(), 1, 4), Others::kGoOn);  // only one is the last
}

TEST_F(JobTest, ThePointerFollowsARenamedRun) {
  const JobPointer pointer(base_.path(), "job", "run");
  make_run();
  ASSERT_TRUE(pointer.claim());
  pointer.publish(run());
  const fs::path renamed = base_ / "renamed";
  fs::rename(run(), renamed);
  move_job(Directory(renamed), base_ / "another");
  EXPECT_EQ(pointer.wait(), run());
  move_job(Directory(renamed), run());
  EXPECT_EQ(pointer.wait(), renamed);
}

TEST_F(JobTest, ThePointerGoesWithTheSpools) {
  const JobPointer pointer(base_.path(), "job", "run");
  const JobPointer other(base_.path(), "other", "run");
  ASSERT_TRUE(pointer.claim() && other.claim());
  make_run();
  pointer.publish(run());
  forget_job(Directory(run()));
  EXPECT_FALSE(pointer.exists());
  EXPECT_TRUE(other.exists());
  forget_job(Directory(run()));  // nothing of it is left
}

TEST_F(JobTest, APointerAboveTheDirectoryOfTheRunIsFound) {
  const JobPointer pointer(base_.path(), "job", "run");
  ASSERT_TRUE(pointer.claim());
  fs::create_directories(base_ / "2026/run");
  mark_job(base_ / "2026/run", "job", "run");
  pointer.publish(base_ / "2026/run");
  forget_job(Directory(base_ / "2026/run"));
  EXPECT_EQ(names(), std::set<std::string>{"2026"});
}

TEST_F(JobTest, SpoolsOfRanksAreFoundAndCounted) {
  make_run();
  for (const char* spool :
       {"a-1-2-0", "rank-0/a-2-3-0", "rank-10/b-2-3-0", "rank-10/b-3-3-0", "ended"}) {
    fs::create_directories(run() / "spool" / spool);
  }
  std::ofstream(run() / "spool/rank-0/unmeasured") << ".i.";
  std::ofstream(run() / "spool/rank-10/unmeasured") << ".";
  EXPECT_EQ(count_spools(run()), 4u);
  EXPECT_EQ(unmeasured_in(run()).processes, 3u);
  EXPECT_EQ(unmeasured_in(run()).interpreters, 1u);
  EXPECT_EQ(count_spools(base_ / "none"), 0u);
  EXPECT_EQ(unmeasured_in(base_ / "none").processes, 0u);
}

}  // namespace
}  // namespace timeloom::run
