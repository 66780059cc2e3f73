// Tiles agree with every single call: the covered time is exact and, for tiles drawn from events,
// so is the region with the most time of each cell.

#include <gtest/gtest.h>

#include "support/one_location.hpp"
#include "view/answers/group_tiles.hpp"
#include "view/index/tile.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

struct ExpectedCell {
  std::uint64_t covered = 0;
  bool touched = false;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> regions;  // in order of their first time
};
struct ExpectedTile {
  std::map<std::uint32_t, std::array<ExpectedCell, kColumns>> rows;
  std::array<std::uint64_t, kColumns> off{};
  std::array<std::uint64_t, kColumns> waiting{};
  std::array<CauseTicks, kColumns> causes{};
};

template <typename Add>
void by_column(const TileKey& place, std::uint64_t begin, std::uint64_t end, const Add& add) {
  if (!is_in(begin, end, place.begin(), place.end())) return;
  begin = std::max(begin, place.begin()) - place.begin();
  end = std::min(end, place.end()) - place.begin();
  const std::uint64_t width = place.width();
  const std::uint64_t last = end > begin ? (end - 1) / width : begin / width;
  for (std::uint64_t column = begin / width; column <= last; ++column) {
    add(column, std::min(end, (column + 1) * width) - std::max(begin, column * width));
  }
}

ExpectedTile expected_tile(const ModelTrack& track, const TileKey& place) {
  ExpectedTile tile;
  const std::uint64_t from = place.begin(), to = place.end();
  const auto is_outside = [&](std::uint64_t begin, std::uint64_t end) {
    return end < from || begin > to;
  };
  const auto add = [&](std::uint32_t row, std::uint32_t region, std::uint64_t begin,
                       std::uint64_t end) {
    by_column(place, begin, end, [&](std::uint64_t column, std::uint64_t part) {
      ExpectedCell& cell = tile.rows[row][column];
      cell.covered += part;
      cell.touched = true;
      for (auto& [known, ticks] : cell.regions) {
        if (known == region) {
          ticks += part;
          return;
        }
      }
      cell.regions.emplace_back(region, part);
    });
  };
  for (const ModelCall& one : track.calls) {
    if (is_outside(one.call.begin, one.call.end)) continue;
    add(one.call.depth + 1, one.call.region, one.call.begin, one.call.end);
  }
  // Calls without duration are in row 0, too; sorted by their ends among the stretches.
  for (const auto& stretch : track.stretches) {
    if (is_outside(stretch.begin, stretch.end)) continue;
    add(0, track.calls[stretch.call].call.region, stretch.begin, stretch.end);
    by_column(place, stretch.begin, stretch.end, [&](std::uint64_t column, std::uint64_t) {
      const std::uint64_t begin = from + column * place.width();
      const std::uint64_t end = std::min(begin + place.width(), to);
      const CauseTicks waited = stretch.waiting().in(begin, end);
      tile.waiting[column] += total(waited);
      add_causes(tile.causes[column], waited);
    });
  }
  for (const ModelCall& one : track.calls) {
    if (one.call.begin == one.call.end) add(0, one.call.region, one.call.begin, one.call.end);
  }
  for (const auto& [begin, end] : track.off) {
    if (begin == end) continue;
    by_column(place, begin, end,
              [&](std::uint64_t column, std::uint64_t part) { tile.off[column] += part; });
  }
  return tile;
}

std::uint8_t shown(std::uint64_t ticks, std::uint64_t width) {
  return static_cast<std::uint8_t>((ticks * 255 + width - 1) / width);
}

void compare_tile(const Picture& found, const ExpectedTile& expected, const TileKey& place,
                  std::uint32_t first_row) {
  const std::uint32_t all = expected.rows.empty() ? 1 : expected.rows.rbegin()->first + 1;
  ASSERT_EQ(found.all_rows, all);
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    ASSERT_EQ(found.off[i], shown(expected.off[i], place.width()));
    ASSERT_EQ(found.waiting[i], shown(expected.waiting[i], place.width()));
    ASSERT_EQ(found.cause.empty() ? 0 : found.cause[i], main_cause(expected.causes[i]));
  }
  for (std::uint32_t row = 0; row < found.rows; ++row) {
    const auto cells = expected.rows.find(row + first_row);
    for (std::uint32_t i = 0; i < kColumns; ++i) {
      const std::uint32_t region = found.region[row * kColumns + i];
      const std::uint8_t cover = found.cover[row * kColumns + i];
      const ExpectedCell cell = cells == expected.rows.end() ? ExpectedCell() : cells->second[i];
      const std::uint8_t wanted =
          cell.touched ? std::max<std::uint8_t>(1, shown(cell.covered, place.width())) : 0;
      ASSERT_EQ(cover, wanted) << "level " << place.level << ", index " << place.index << ", row "
                               << row << ", column " << i;
      ASSERT_EQ(region == kNone, cover == 0);
      if (cover == 0) continue;
      std::uint64_t most = 0, of_region = 0;
      bool known = false;
      for (const auto& [one, ticks] : cell.regions) {
        most = std::max(most, ticks);
        if (one == region) of_region = ticks;
        known = known || one == region;
      }
      ASSERT_TRUE(known);
      if (found.exact) {
        ASSERT_EQ(of_region, most);
      }
    }
  }
}

void compare_tiles(const RunShape& shape, int tiles) {
  Model model(shape);
  const IndexOfModel index(model);
  for (int i = 0; i < tiles && !testing::Test::HasFailure(); ++i) {
    const auto number = static_cast<std::uint32_t>(model.random(shape.tracks));
    TileKey place;
    place.level = static_cast<unsigned>(model.random(kLastLevel + 1));
    place.index = model.random_time() / kColumns / place.width();
    const auto first_row = static_cast<std::uint32_t>(model.random(2) * model.random(5));
    const auto rows = static_cast<std::uint32_t>(1 + model.random(20));
    const Picture found = picture_at(*index->track(number), place, first_row, rows);
    ASSERT_LE(found.rows, rows);
    ASSERT_EQ(found.region.size(), found.rows * kColumns);
    ASSERT_EQ(found.cover.size(), found.rows * kColumns);
    const ExpectedTile expected = expected_tile(model.tracks()[number], place);
    compare_tile(found, expected, place, first_row);
    const std::uint32_t there = found.all_rows > first_row ? found.all_rows - first_row : 0;
    ASSERT_EQ(found.rows, std::min({rows, there, kStoredRows - first_row}));
  }
}

TEST(Tiles, OfFewEventsAreExact) {
  for (std::uint64_t seed = 31; seed <= 34; ++seed) {
    compare_tiles({.seed = seed, .tracks = 2, .events = 20'000, .step = seed == 34 ? 1u : 50u}, 30);
  }
}

TEST(Tiles, OfWaitingThreadsAreExact) {
  compare_tiles({.seed = 36, .tracks = 2, .events = 20'000, .waiting = true}, 60);
}

TEST(Tiles, HaveTheCauseOfMostWaiting) {
  compare_tiles({.seed = 46, .tracks = 2, .events = 20'000, .waiting = true, .causes = true}, 60);
}

TEST(Tiles, WithoutCausesHaveNoneInTheFile) {
  Model model({.seed = 37, .tracks = 1, .events = 100'000, .depth = 8, .waiting = true});
  const IndexOfModel index(model);
  for (const TileRecord& record : index->track(0)->tiles()) {
    const Picture found = picture_at(*index->track(0), {record.level, record.index}, 0, 1);
    EXPECT_TRUE(found.cause.empty());
  }
}

// A task that sleeps from 64 to 192, and a thread that works all the time. `around`: the functions
// around the suspension, the outermost first.
class SleepingTask : public test::OneLocation {
 public:
  explicit SleepingTask(bool causes, std::vector<const char*> around = {"asyncio.tasks.sleep"})
      : around_(static_cast<std::uint32_t>(around.size())) {
    definitions_.regions.emplace_back().name = "f";
    for (const char* const name : around) definitions_.regions.emplace_back().name = name;
    definitions_.regions.emplace_back().name = kSuspended;
    definitions_.regions.back().paradigm = Paradigm::kMeasurement;
    definitions_.metrics.push_back(waiting_metric());
    if (causes) definitions_.metrics.push_back(cause_metric(WaitingCause::kTime));
    definitions_.locations.push_back({LocationId{1}, "thread", LocationGroupId{0}});
  }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    const auto at = [](std::uint64_t time, EventKind kind, std::uint32_t region) {
      return Event{Timestamp{time}, kind, region, 0};
    };
    constexpr auto kEnter = EventKind::kEnter, kLeave = EventKind::kLeave;
    std::vector<Event> task = {at(0, kEnter, 0)};
    for (std::uint32_t i = 1; i <= around_; ++i) task.push_back(at(60, kEnter, i));
    task.push_back(at(64, kEnter, around_ + 1));
    for (std::uint32_t i = around_ + 1; i > 0; --i) task.push_back(at(192, kLeave, i));
    task.push_back(at(256, kLeave, 0));
    const std::vector<std::vector<Event>> events = {task, {at(0, kEnter, 0), at(256, kLeave, 0)}};
    for (RunSink* sink : sinks) {
      sink->begin(definitions_);
      for (std::size_t i = 0; i < events.size(); ++i) {
        const auto location = sink->open_location(definitions_.locations[i]);
        location->consume(events[i]);
        location->finish();
      }
      sink->finish();
    }
  }

 private:
  std::uint32_t around_;
};

TEST(Tiles, HaveTheCauseThatTheOutermostFunctionOfTheEventLoopTells) {
  const auto cause_in = [](std::vector<const char*> around) {
    SleepingTask run(true, std::move(around));
    const IndexOfModel index(run);
    const Picture picture = FirstRows(run.definitions()).of(*index->track(0), {0, 0});
    EXPECT_EQ(picture.waiting[100], 255);
    return WaitingCause{picture.cause[100]};
  };
  constexpr const char* kTrap = "trio._core._traps.wait_task_rescheduled";
  constexpr const char* kIo = "trio._core._generated_io_epoll.EpollIOManager.wait_readable";
  EXPECT_EQ(cause_in({"trio._timeouts.sleep", "trio._timeouts.sleep_until", kTrap}),
            WaitingCause::kTime);
  EXPECT_EQ(cause_in({kIo, kTrap}), WaitingCause::kIo);
  EXPECT_EQ(cause_in({"trio._subprocess.Process.wait", kIo, kTrap}), WaitingCause::kThread);
  // Of the program's own function inside, nothing is known.
  EXPECT_EQ(cause_in({"trio._timeouts.sleep", "mine", kTrap}), WaitingCause::kUnknown);
}

TEST(Tiles, OfAProcessCountSuspendedTasksAsWaitingForWhatTheyAwait) {
  for (const bool causes : {true, false}) {
    SleepingTask run(causes);
    const IndexOfModel index(run);
    for (const std::uint32_t number : {kWholeRun, kFirstGroup}) {
      const Picture picture = group_picture(*index, run.definitions(), number, {0, 0}, 0, 1);
      ASSERT_EQ(picture.cause.empty(), !causes);
      for (std::uint32_t column = 0; column < kColumns; ++column) {
        const bool sleeps = column >= 64 && column < 192;
        ASSERT_EQ(picture.cover[column], 255) << column;
        ASSERT_EQ(picture.waiting[column], sleeps ? 128 : 0) << column;
        if (causes && sleeps) {
          ASSERT_EQ(WaitingCause{picture.cause[column]}, WaitingCause::kTime) << column;
        }
      }
    }
  }
}

TEST(Tiles, OfSomeTracksAreTheMeanOfThese) {
  SleepingTask run(true);
  const IndexOfModel index(run);
  const auto mixed = [&](std::vector<std::uint32_t> tracks) {
    return mixed_picture(*index, run.definitions(), tracks, {0, 0});
  };
  const Picture task = mixed({0}), thread = mixed({1}), both = mixed({0, 1});
  EXPECT_EQ(both.waiting,
            group_picture(*index, run.definitions(), kWholeRun, {0, 0}, 0, 1).waiting);
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    const bool sleeps = column >= 64 && column < 192;
    ASSERT_EQ(task.waiting[column], sleeps ? 255 : 0) << column;
    ASSERT_EQ(thread.waiting[column], 0) << column;
    ASSERT_EQ(task.region[column], sleeps ? 2u : column >= 60 && column < 64 ? 1u : 0u) << column;
  }
}

TEST(Tiles, ThatTheIndexHoldsCoverWhatIsThere) {
  const RunShape shape{
      .seed = 35, .tracks = 1, .events = 500'000, .depth = 8, .waiting = true, .causes = true};
  Model model(shape);
  const IndexOfModel index(model);
  const auto track = index->track(0);
  ASSERT_GT(track->tiles().size(), 10u);
  for (const TileRecord& record : track->tiles()) {
    const TileKey place{record.level, record.index};
    if (model.random(3) > 0 && record.level > 4) continue;
    const Picture found = picture_at(*track, place, 0, kStoredRows);
    EXPECT_FALSE(found.exact);
    compare_tile(found, expected_tile(model.tracks()[0], place), place, 0);
    if (HasFatalFailure()) return;
  }
  compare_tiles(shape, 15);
}

}  // namespace
}  // namespace timeloom::view
