// Profile mode: calls are aggregated into call paths while they are recorded.
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <fstream>
#include <thread>

#include "../support/bytes.hpp"
#include "record_fixture.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {
namespace {

class ProfileTest : public RecordTest {
 protected:
  void begin(std::uint32_t depth = 0) {
    StartOptions options;
    options.spool_directory = path();
    options.profile = true;
    options.profile_depth = depth;
    start(options);
  }
  spool::ProfileData profile() const { return spool::read_profiles(path()).profiles.at(0); }
  static EventWord region(const std::string& name) {
    const EventWord word = RecordTest::region(name);
    names_[payload_of(word)] = name;
    return word;
  }
  // "f/g 3": the call path and its visits, in the order of first visits; "f/g{1=2} 3" with
  // parameter 1.
  static Lines lines(const spool::ProfileData& data) {
    Lines paths, result;
    for (const spool::ProfileNode& node : data.places) {
      paths.emplace_back();
      if (node.kind > spool::PlaceKind::kContinued) continue;
      std::string name = node.region == spool::kBeyondLimit ? "rest" : names_.at(node.region);
      name += parameters(data, node);
      paths.back() = node.parent == 0 ? name : paths.at(node.parent - 1) + "/" + name;
      result.push_back(paths.back() + " " + std::to_string(node.visits));
    }
    return result;
  }
  static std::string parameters(const spool::ProfileData& data, const spool::ProfileNode& node) {
    if (node.parameter == 0) return {};
    const auto& one =
        reinterpret_cast<const spool::ProfileParameter&>(data.places.at(node.parameter - 1));
    return parameters(data, data.places.at(one.node - 1)) + "{" + std::to_string(one.parameter) +
           "=" + std::to_string(one.value) + "}";
  }
  static void give(ParameterId parameter, std::uint64_t value) {
    const std::uint64_t words[] = {parameter.value(), value};
    t_recorder->extended(ExtendedKind::kParameterInt, words);
  }
  static std::uint64_t visits(const spool::ProfileData& data) {
    std::uint64_t sum = 0;
    for (const spool::ProfileNode& node : data.places) {
      if (node.kind <= spool::PlaceKind::kContinued) sum += node.visits;
    }
    return sum;
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
  const auto profiles = spool::read_profiles(path()).profiles;
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(lines(profiles[0]), (Lines{"f 3", "f/g 3", "f/f 3", "g 1"}));
  EXPECT_FALSE(profiles[0].damaged);
  for (const spool::ProfileNode& node : profiles[0].places) {
    EXPECT_EQ(node.entered, 0u);
    EXPECT_LE(node.shortest, node.longest);
    EXPECT_LE(node.longest, node.ticks);
    EXPECT_LE(node.ticks, node.visits * node.longest);
  }
  EXPECT_GE(profiles[0].places[0].ticks, profiles[0].places[1].ticks + profiles[0].places[2].ticks);
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
  EXPECT_EQ(lines(profile()), (Lines{"f 2000000"}));
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
  const auto profiles = spool::read_profiles(path()).profiles;
  ASSERT_EQ(profiles.size(), 4u);  // and the main thread
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(profiles[n].location, n);
    EXPECT_EQ(lines(profiles[n]), (Lines{"f " + std::to_string(n)}));
  }
}

TEST_F(ProfileTest, CallPathsBeyondTheLimitAreCountedByFunction) {
  begin();
  const EventWord f = region("f"), g = region("g");
  std::vector<EventWord> many;
  constexpr std::uint32_t kMany = 1000;
  for (std::uint32_t i = 0; i < kMany; ++i) many.push_back(region("r" + std::to_string(i)));
  for (std::uint32_t outer = 0; outer < kMany; ++outer) {
    enter(many[outer]);
    for (std::uint32_t inner = 0; inner < kMany; ++inner) {
      enter(many[inner]);
      leave(many[inner]);
    }
    leave(many[outer]);
  }
  enter(f);
  enter(g);
  for (int i = 0; i < 5; ++i) enter(f);
  leave(f);
  const auto cut_off = profile();  // as after a kill
  EXPECT_FALSE(cut_off.damaged);
  for (int i = 0; i < 4; ++i) leave(f);
  leave(g);
  leave(f);
  totals_ = stop();
  const auto data = profile();
  EXPECT_EQ(totals_.lost_events, 0u);
  EXPECT_EQ(totals_.events, 2 * (kMany * (kMany + 1) + 7));
  std::map<std::uint32_t, std::uint64_t> visits_of;
  std::uint64_t beyond = 0, own = 0;
  for (const spool::ProfileNode& node : data.places) {
    visits_of[node.region] += node.visits;
    if (node.region == spool::kBeyondLimit) beyond += node.ticks;
    if (node.parent == 0) continue;
    if (data.places[node.parent - 1].region == spool::kBeyondLimit) own += node.ticks;
  }
  EXPECT_EQ(visits_of[spool::kBeyondLimit], 0u);
  for (const EventWord one : many) EXPECT_EQ(visits_of[payload_of(one)], kMany + 1);
  EXPECT_EQ(visits_of[payload_of(f)], 6u);
  EXPECT_EQ(visits_of[payload_of(g)], 1u);
  EXPECT_EQ(own, beyond);
  EXPECT_EQ(visits(cut_off), visits(data));
  EXPECT_GE(data.places.size() + 1, ThreadProfile::kMaxPlaces);
  EXPECT_LT(data.places.size(), ThreadProfile::kMaxPlaces + 2 * kMany);
}

TEST_F(ProfileTest, DeepRecursionIsADeepTree) {
  begin();
  const EventWord f = region("f");
  for (int i = 0; i < 10'000; ++i) enter(f);
  for (int i = 0; i < 10'000; ++i) leave(f);
  stop();
  EXPECT_EQ(profile().places.size(), 10'000u);
}

TEST_F(ProfileTest, WhatIsDeeperThanTheLimitIsOneNode) {
  begin(100);
  const EventWord f = region("f");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10'000; ++i) enter(f);
    for (int i = 0; i < 10'000; ++i) leave(f);
  }
  totals_ = stop();
  const auto data = profile();
  ASSERT_EQ(data.places.size(), 101u);
  EXPECT_EQ(visits(data), 20'000u);
  EXPECT_EQ(data.deepest, 10'000u);
  EXPECT_EQ(totals_.events, 40'000u);
  EXPECT_EQ(totals_.lost_events, 0u);
  const spool::ProfileNode& rest = data.places.back();
  EXPECT_EQ(rest.region, spool::kBeyondLimit);
  EXPECT_EQ(rest.visits, 19'800u);
  EXPECT_EQ(rest.shortest + rest.longest, rest.ticks);  // of the two outermost visits
}

TEST_F(ProfileTest, ALimitThatIsReachedIsNotExceeded) {
  begin(3);
  const EventWord f = region("f");
  for (int i = 0; i < 3; ++i) enter(f);
  for (int i = 0; i < 3; ++i) leave(f);
  stop();
  EXPECT_EQ(profile().deepest, 0u);
  EXPECT_EQ(lines(profile()), (Lines{"f 1", "f/f 1", "f/f/f 1"}));
}

TEST_F(ProfileTest, ParametersTellCallPathsApart) {
  begin();
  const EventWord f = region("f"), g = region("g");
  const ParameterId n{0}, m{1};
  for (const std::uint64_t value : {7, 8, 7}) {
    enter(f);
    give(n, value);
    enter(g);
    leave(g);
    leave(f);
  }
  enter(f);
  give(n, 7);
  give(m, 1);
  give(n, 8);  // instead of 7
  leave(f);
  stop();
  EXPECT_EQ(lines(profile()), (Lines{"f 0", "f{0=7} 2", "f{0=7}/g 2", "f{0=8} 1", "f{0=8}/g 1",
                                     "f{0=7}{1=1} 0", "f{0=8}{1=1} 1"}));
  EXPECT_EQ(profile().places[0].ticks, 0u);  // every visit has a parameter
}

TEST_F(ProfileTest, AParameterThatComesLateLeavesTheTimeBeforeWhereItWas) {
  begin();
  const EventWord f = region("f"), g = region("g");
  enter(f);
  enter(g);
  leave(g);
  give(ParameterId{0}, 7);
  enter(g);
  leave(g);
  leave(f);
  stop();
  EXPECT_EQ(lines(profile()), (Lines{"f 0", "f/g 1", "f{0=7} 1", "f{0=7}/g 1"}));
  const auto places = profile().places;
  EXPECT_GE(places[0].ticks, places[1].ticks);
  EXPECT_GE(places[3].ticks, places[4].ticks);
}

TEST_F(ProfileTest, ValuesOfAParameterThatThereIsNoRoomForAreCounted) {
  begin();
  const EventWord f = region("f");
  for (std::uint32_t i = 0; i < ThreadProfile::kMaxPlaces; ++i) {
    enter(f);
    give(ParameterId{0}, i);
    leave(f);
  }
  totals_ = stop();
  EXPECT_EQ(visits(profile()), ThreadProfile::kMaxPlaces);
  // Each value takes two places.
  EXPECT_NEAR(static_cast<double>(totals_.lost_events), ThreadProfile::kMaxPlaces / 2.0, 2);
}

TEST_F(ProfileTest, CountersHaveValuesInCallPaths) {
  begin();
  const EventWord f = region("f");
  const auto count = [](MetricId metric, std::uint64_t value) {
    const std::uint64_t words[] = {metric.value(), value};
    t_recorder->extended(ExtendedKind::kMetric, words);
  };
  const MetricId whole = define_metric("whole", "", MetricValueType::kInt64);
  const MetricId real = define_metric("real", "", MetricValueType::kDouble);
  count(whole, 1);  // outside of all call paths: lost
  for (const int value : {5, -3, 4}) {
    enter(f);
    count(whole, static_cast<std::uint64_t>(value));
    leave(f);
  }
  enter(f);
  count(real, std::bit_cast<std::uint64_t>(0.5));
  leave(f);
  totals_ = stop();
  EXPECT_EQ(totals_.lost_events, 1u);
  std::vector<spool::ProfileMetric> found;
  for (const spool::ProfileNode& place : profile().places) {
    if (place.kind != spool::PlaceKind::kMetric) continue;
    found.push_back(std::bit_cast<spool::ProfileMetric>(place));
  }
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].metric, whole.value());
  EXPECT_EQ(found[0].count, 3u);
  EXPECT_EQ(found[0].sum, 6);
  EXPECT_EQ(found[0].least, -3);
  EXPECT_EQ(found[0].most, 5);
  EXPECT_EQ(found[0].squares, 50);
  EXPECT_EQ(found[1].count, 1u);
  EXPECT_EQ(found[1].sum, 0.5);
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
  EXPECT_EQ(lines(profile()), (Lines{"f 1"}));
}

// Of three visits, the shortest is not longer than all three together.
TEST_F(ProfileTest, NumbersThatCannotBeAreLeftOutOfAFileThatIsNotSealed) {
  begin();
  const EventWord f = region("f");
  for (int i = 0; i < 3; ++i) {
    enter(f);
    leave(f);
  }
  const std::string file = path() + "/profile-0";
  const std::string bytes = test::read_bytes(file);
  const spool::ProfileNode sound = profile().places.at(0);
  const auto damaged = [&](auto change) {
    spool::ProfileNode node = sound;
    change(node);
    std::string changed = bytes;
    std::memcpy(changed.data() + sizeof node, &node, sizeof node);
    test::write_bytes(path() + "/profile-7", changed);
    const auto profiles = spool::read_profiles(path()).profiles;
    ::unlink((path() + "/profile-7").c_str());
    return std::ranges::any_of(profiles, [](const auto& one) {
      return one.damaged && one.places.at(0).kind == spool::PlaceKind::kLeftOut;
    });
  };
  EXPECT_FALSE(damaged([](auto&) {}));
  EXPECT_FALSE(damaged([](auto& node) { node.shortest = UINT64_MAX, node.longest = 0; }));
  EXPECT_TRUE(damaged([](auto& node) { node.visits |= std::uint64_t{1} << 60; }));
  EXPECT_TRUE(damaged([](auto& node) { node.ticks |= std::uint64_t{1} << 60; }));
  EXPECT_TRUE(damaged([](auto& node) { node.entered = UINT64_MAX; }));
  EXPECT_TRUE(damaged([](auto& node) { node.longest = node.ticks + 1; }));
  EXPECT_TRUE(damaged([](auto& node) { node.shortest = node.longest + 1; }));
  EXPECT_TRUE(damaged([](auto& node) { node.shortest = node.longest = node.ticks; }));
  stop();
}

// Other places are read; places below the damaged one are left out with it.
TEST_F(ProfileTest, APlaceThatWasChangedIsLeftOutWithWhatLiesBelowIt) {
  begin();
  const EventWord f = region("f"), g = region("g"), h = region("h");
  for (const EventWord outer : {f, h}) {
    enter(outer);
    enter(g);
    leave(g);
    leave(outer);
  }
  stop();
  const std::string file = path() + "/profile-0";
  const std::string sound = test::read_bytes(file);
  EXPECT_TRUE(profile().sealed);
  EXPECT_EQ(lines(profile()), (Lines{"f 1", "f/g 1", "h 1", "h/g 1"}));
  for (std::size_t at = sizeof(spool::ProfileNode); at < 2 * sizeof(spool::ProfileNode); ++at) {
    std::string changed = sound;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    test::write_bytes(file, changed);
    EXPECT_TRUE(profile().damaged);
    EXPECT_EQ(lines(profile()), (Lines{"h 1", "h/g 1"})) << at;
  }
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
  const auto data = profile();
  EXPECT_TRUE(data.damaged);
  EXPECT_EQ(lines(data), (Lines{"f 1"}));
  std::filesystem::resize_file(file, sizeof(spool::ProfileNode) + 5);
  EXPECT_TRUE(profile().places.empty());
  std::filesystem::resize_file(file, 10);
  EXPECT_TRUE(spool::read_profiles(path()).profiles.empty());
  EXPECT_EQ(spool::read_profiles(path()).unreadable, 1u);
  std::filesystem::resize_file(file, 0);
  EXPECT_EQ(spool::read_profiles(path()).empty, 1u);
}

}  // namespace
}  // namespace timeloom::record
