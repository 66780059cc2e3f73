// The slowest visits of a trace: their order, and visits with impossible times.
#include "tools/report/slowest_visits.hpp"

#include <gtest/gtest.h>

#include "profile/story.hpp"

namespace timeloom::tools {
namespace {

struct Marked {
  std::uint64_t total;
  bool impossible;
  bool operator==(const Marked&) const = default;
};

// The story starts at 100; `begin` and `length` are the trace's values for the run.
std::vector<Marked> visits_of(std::uint64_t begin, std::uint64_t length) {
  profile::Story story;
  story.thread("main", "f +10 ) f +500 ) f +20 )");
  story.definitions().clock.begin = begin;
  story.definitions().clock.length = length;
  std::set<LocationId> all;
  for (const Location& location : story.definitions().locations) all.insert(location.id);
  SlowestVisits slowest(10, {}, all);
  slowest.begin(story.definitions());
  story.replay(slowest);
  std::vector<Marked> result;
  for (const Visit& visit : slowest.visits()) result.push_back({visit.total, visit.impossible});
  return result;
}

TEST(SlowestVisits, AreWithinTheRun) {
  const std::vector<Marked> sound = {{500, false}, {20, false}, {10, false}};
  EXPECT_EQ(visits_of(100, 530), sound);
  EXPECT_EQ(visits_of(0, 0), sound);  // not known
}

TEST(SlowestVisits, AreMarkedWhereTheyAreNot) {
  EXPECT_EQ(visits_of(100, 300), (std::vector<Marked>{{500, true}, {20, true}, {10, false}}));
  EXPECT_EQ(visits_of(105, 600), (std::vector<Marked>{{500, false}, {20, false}, {10, true}}));
}

TEST(SlowestVisits, AreMarkedWhereTheyEndBeforeTheyBegin) {
  profile::Story story;
  story.thread("main", "f +10 )");
  SlowestVisits slowest(10, {}, {story.definitions().locations.front().id});
  slowest.begin(story.definitions());
  const auto sink = slowest.open_location(story.definitions().locations.front());
  const std::vector<Event> events = {{Timestamp{200}, EventKind::kEnter, 0, 0},
                                     {Timestamp{150}, EventKind::kLeave, 0, 0}};
  sink->consume(events);
  sink->finish();
  slowest.finish();
  ASSERT_EQ(slowest.visits().size(), 1u);
  EXPECT_TRUE(slowest.visits().front().impossible);
}

}  // namespace
}  // namespace timeloom::tools
