// Teams of threads are read back as they were written, with other numbers.
#include <gtest/gtest.h>

#include "team_run.hpp"

namespace timeloom::otf2 {
namespace {

TEST(Teams, AreReadBack) {
  const TemporaryDirectory directory;
  const Story written = team_run();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  std::map<std::uint64_t, std::uint64_t> numbers;
  for (const auto& [id, events] : written.events) {
    const std::vector<Event>& read = found.events.at(id);
    ASSERT_EQ(read.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      // A fork is known when its team begins.
      const bool fork = events[i].kind == EventKind::kTeamFork;
      EXPECT_EQ(read[i].time, events[fork ? i + 1 : i].time);
      EXPECT_EQ(read[i].kind, events[i].kind);
      EXPECT_EQ(read[i].ref, events[i].ref);
      if (!is_of_team(events[i].kind)) continue;
      const auto known = numbers.try_emplace(events[i].value, read[i].value).first;
      EXPECT_EQ(known->second, read[i].value);
    }
  }
  EXPECT_EQ(numbers.at(0), 0u);
  std::set<std::uint64_t> different;
  for (const auto& [number, in_archive] : numbers) different.insert(in_archive);
  EXPECT_EQ(different.size(), numbers.size());
}

TEST(Teams, AreFoundAgainByAReaderThatWantsThem) {
  class Wanting : public KeepingSink {
    bool wants_teams() const override { return true; }
  };
  const TemporaryDirectory directory;
  write(team_run(), directory.path());
  const auto source = open(directory.path() / "traces.otf2");
  Wanting sink;
  const std::array<RunSink*, 1> sinks = {&sink};
  source->replay(sinks, 2);
  ASSERT_NE(source->definitions().teams, nullptr);
  const Teams& teams = *source->definitions().teams;
  const auto location = [](std::uint64_t index) { return LocationId{index << 32}; };
  EXPECT_EQ(teams.teams.size(), 3u);
  EXPECT_EQ(teams.members, (std::vector<std::vector<LocationId>>{{location(0), location(1)},
                                                                 {location(1), location(2)}}));
  EXPECT_EQ(teams.tasks.size(), 1u);
}

}  // namespace
}  // namespace timeloom::otf2
