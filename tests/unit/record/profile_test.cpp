// Profile mode: calls are folded into call paths while they are recorded.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "record_fixture.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {
namespace {

class ProfileTest : public RecordTest {
 protected:
  void begin() {
    StartOptions options;
    options.spool_directory = path();
    options.profile = true;
    start(options);
  }
  static EventWord region(const std::string& name) {
    const EventWord word = RecordTest::region(name);
    names_[payload_of(word)] = name;
    return word;
  }
  // "f/g 3": the call path and its visits, in the order of first visits.
  static Lines lines(const spool::ProfileData& data) {
    Lines paths, result;
    for (const spool::ProfileNode& node : data.nodes) {
      const std::string name = node.region == spool::kBeyondLimit ? "rest" : names_.at(node.region);
      paths.push_back(node.parent == 0 ? name : paths.at(node.parent - 1) + "/" + name);
      result.push_back(paths.back() + " " + std::to_string(node.visits));
    }
    return result;
  }
  static std::map<std::uint32_t, std::string> names_;
};
std::map<std::uint32_t, std::string> ProfileTest::names_;

TEST_F(ProfileTest, CountsVisitsOfCallPaths) {
  begin();
  const EventWord f = region("f"), g = region("g");
  for (int i = 0; i < 3; ++i) {
    enter(f);
    enter(g);
    leave(g);
    enter(f);
    leave(f);
    leave(f);
  }
  enter(g);
  leave(g);
  totals_ = stop();
  const auto profiles = spool::read_profiles(path());
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(lines(profiles[0]), (Lines{"f 3", "f/g 3", "f/f 3", "g 1"}));
  EXPECT_FALSE(profiles[0].damaged);
  for (const spool::ProfileNode& node : profiles[0].nodes) {
    EXPECT_EQ(node.entered, 0u);
    EXPECT_LE(node.shortest, node.longest);
    EXPECT_LE(node.longest, node.ticks);
    EXPECT_LE(node.ticks, node.visits * node.longest);
  }
  EXPECT_GE(profiles[0].nodes[0].ticks, profiles[0].nodes[1].ticks + profiles[0].nodes[2].ticks);
  EXPECT_EQ(totals_.events, 20u);
  EXPECT_EQ(totals_.lost_events, 0u);
  EXPECT_EQ(read_spool(path()).events, 0u);  // no trace
}

TEST_F(ProfileTest, MemoryDoesNotGrowWithTheNumberOfCalls) {
  begin();
  const EventWord f = region("f");
  for (int i = 0; i < 2'000'000; ++i) {
    enter(f);
    leave(f);
  }
  totals_ = stop();
  EXPECT_EQ(totals_.events, 4'000'000u);
  EXPECT_EQ(totals_.bytes, 2 * sizeof(spool::ProfileNode));
  EXPECT_EQ(lines(spool::read_profiles(path()).at(0)), (Lines{"f 2000000"}));
}

TEST_F(ProfileTest, EveryThreadHasItsOwn) {
  begin();
  const EventWord f = region("f");
  for (int n = 1; n <= 3; ++n) {
    std::thread([&] {
      for (int i = 0; i < n; ++i) {
        enter(f);
        leave(f);
      }
    }).join();
  }
  stop();
  const auto profiles = spool::read_profiles(path());
  ASSERT_EQ(profiles.size(), 4u);  // and the main thread
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(profiles[n].location, n);
    EXPECT_EQ(lines(profiles[n]), (Lines{"f " + std::to_string(n)}));
  }
}

TEST_F(ProfileTest, CallPathsBeyondTheLimitShareANode) {
  begin();
  const EventWord f = region("f"), g = region("g");
  std::vector<EventWord> many;
  constexpr std::uint32_t kMany = 1000;
  for (std::uint32_t i = 0; i < kMany; ++i) many.push_back(region("r" + std::to_string(i)));
  std::uint64_t calls = 0;
  for (std::uint32_t outer = 0; outer < kMany; ++outer) {
    enter(many[outer]);
    for (std::uint32_t inner = 0; inner < kMany; ++inner) {
      enter(many[inner]);
      leave(many[inner]);
      ++calls;
    }
    leave(many[outer]);
    ++calls;
  }
  enter(f);
  enter(g);
  enter(f);
  leave(f);
  leave(g);
  leave(f);
  totals_ = stop();
  const auto data = spool::read_profiles(path()).at(0);
  EXPECT_EQ(totals_.lost_events, 0u);
  std::uint64_t visits = 0, rest = 0;
  for (const spool::ProfileNode& node : data.nodes) {
    visits += node.visits;
    if (node.region == spool::kBeyondLimit) rest += node.visits;
  }
  EXPECT_GE(rest, kMany / 2);
  // Of visits inside a node that stands for the rest, only the outermost counts.
  EXPECT_LE(visits, calls + 3);
  EXPECT_GE(data.nodes.size() + 1, ThreadProfile::kMaxNodes);
  EXPECT_LT(data.nodes.size(), ThreadProfile::kMaxNodes + 2 * kMany);
}

TEST_F(ProfileTest, DeepRecursionIsADeepTree) {
  begin();
  const EventWord f = region("f");
  for (int i = 0; i < 10'000; ++i) enter(f);
  for (int i = 0; i < 10'000; ++i) leave(f);
  stop();
  EXPECT_EQ(spool::read_profiles(path()).at(0).nodes.size(), 10'000u);
}

TEST_F(ProfileTest, WhatIsOpenAtAForkIsTheParents) {
  begin();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  const ::pid_t child = ::fork();
  if (child == 0) {
    leave(f);
    enter(g);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  leave(f);
  stop();
  EXPECT_EQ(lines(spool::read_profiles(path()).at(0)), (Lines{"f 1"}));
}

TEST_F(ProfileTest, DamageEndsWhatCanBeRead) {
  begin();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  enter(g);
  leave(g);
  leave(f);
  stop();
  const std::string file = path() + "/profile-0";
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(2 * sizeof(spool::ProfileNode));  // the parent of node 2
  stream.write("\xff\xff\xff\xff", 4);
  stream.close();
  const auto data = spool::read_profiles(path()).at(0);
  EXPECT_TRUE(data.damaged);
  EXPECT_EQ(lines(data), (Lines{"f 1"}));
  std::filesystem::resize_file(file, sizeof(spool::ProfileNode) + 5);
  EXPECT_TRUE(spool::read_profiles(path()).at(0).nodes.empty());
  std::filesystem::resize_file(file, 10);
  EXPECT_TRUE(spool::read_profiles(path()).empty());
}

}  // namespace
}  // namespace timeloom::record
