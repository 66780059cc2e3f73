// A changed or truncated index is refused, or gives the same answers: never wrong numbers.

#include <gtest/gtest.h>

#include "../support/bytes.hpp"
#include "core/error.hpp"
#include "core/mpi/mpi_event.hpp"
#include "view/answers/auxiliary_events.hpp"
#include "view/answers/find.hpp"
#include "view/answers/message_answers.hpp"
#include "view/index/tile.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

struct Answers {
  std::vector<RangeSum> sums;
  std::vector<Call> calls;
  std::vector<std::uint8_t> cover;
  friend bool operator==(const Answers&, const Answers&) = default;
};

Answers ask(const Index& index) {
  Answers answers;
  answers.sums = range_table(index, std::vector<std::uint32_t>{0, 1}, 500, 1500).sums;
  CallQuestion question;
  question.to = kLastTime;
  answers.calls = calls_in(*index.track(1), question).calls;
  answers.cover = picture_at(*index.track(0), {3, 0}, 0, 20).cover;
  return answers;
}

// For a flipped bit of any byte (or every third one), the file is refused or gives the same
// answers.
template <typename Ask>
void expect_refused_or_same(const IndexOfModel& index, const Ask& answers_of) {
  const std::string good = test::read_bytes(index.path());
  const auto expected = answers_of(*index);
  const test::TempDirectory directory;
  const std::string path = directory / "view.timeloom";
  std::size_t refused = 0;
  const std::size_t step = test::rounds<std::size_t>(3, 1);
  for (std::size_t i = 0; i < good.size(); i += step) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    test::write_bytes(path, bytes);
    try {
      EXPECT_EQ(answers_of(*IndexOfModel::open(path)), expected) << "byte " << i;
    } catch (const Error&) {
      ++refused;
    }
  }
  // The others are lists of sums of tracks with one block, which no question needs.
  EXPECT_GT(refused, good.size() / step / 2);
}

TEST(Damage, OfAnyByteIsSeen) {
  Model model({.seed = 41, .tracks = 2, .events = 120});
  const IndexOfModel index(model);
  expect_refused_or_same(index, [](const Index& one) { return ask(one); });
}

// Two processes: messages in both directions, collective operations, and values of a metric.
class Talk : public RunSource {
 public:
  Talk() {
    definitions_.regions.emplace_back().name = "MPI_Barrier";
    definitions_.metrics.push_back({"rss", "B", "", MetricValueType::kUint64});
    definitions_.communicators.emplace_back();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      definitions_.groups.push_back({"Process", "node", rank, "python", {"a.py"}});
      definitions_.locations.push_back({LocationId{rank}, "main", LocationGroupId{rank}});
      definitions_.communicators[0].members.push_back(LocationId{rank});
    }
  }

  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    for (RunSink* sink : sinks) {
      sink->begin(definitions_);
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        const auto location = sink->open_location(definitions_.locations[rank]);
        location->consume(events_of(rank));
        location->finish();
      }
      sink->finish();
    }
  }

 private:
  static std::vector<Event> events_of(std::uint32_t rank) {
    std::vector<Event> events;
    for (std::uint64_t step = 0; step < 10; ++step) {
      const Timestamp time{100 * step + 10 * rank};
      const bool sends = step % 2 == rank;
      events.push_back({time, EventKind::kMetric, 0, step});
      events.push_back({time, EventKind::kEnter, 0, 0});
      events.push_back(operand(time, OperandKind::kPeerAndTag, pair_of(1 - rank, 7)));
      events.push_back({time, sends ? EventKind::kMpiSend : EventKind::kMpiRecv, 0, 80 + step});
      const auto barrier = static_cast<std::uint32_t>(CollectiveKind::kBarrier);
      events.push_back({time, EventKind::kMpiCollectiveBegin, 0, 0});
      events.push_back(operand(time, OperandKind::kPeerAndTag, pair_of(barrier, UINT32_MAX)));
      events.push_back({time, EventKind::kMpiCollectiveEnd, 0, 0});
      events.push_back({time, EventKind::kLeave, 0, 0});
    }
    return events;
  }

  Definitions definitions_;
};

std::vector<std::string> ask_besides_calls(const Index& index, const Definitions& definitions) {
  const AuxiliaryEvents events(index, definitions);
  const Messages messages(index, definitions, events.message_ends());
  MessageQuestion all;
  all.to = kLastTime;
  all.limit = 100;
  std::vector<std::string> answers = {messages_answer(bundles_in(messages, all)),
                                      collectives_answer(gatherings_in(messages, all))};
  for (const auto& [key, series] : events.series()) {
    const ValuesQuestion question{key, 0, kLastTime};
    const auto found = values_in(index, events, definitions, {&question, 1});
    for (const Stretch& one : found.front()) {
      answers.push_back(std::to_string(key.first) + ' ' + std::to_string(one.begin) + ' ' +
                        std::to_string(one.last));
    }
  }
  return answers;
}

// The first questions of `timeloom view`.
void expect_all_seen(const IndexOfModel& index, std::size_t most) {
  const std::string good = test::read_bytes(index.path());
  const test::TempDirectory directory;
  const std::string path = directory / "view.timeloom";
  const std::atomic<bool> cancelled = false;
  index->check_all(cancelled);
  for (std::size_t i = 0; i < good.size(); i += 1 + good.size() / most) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    test::write_bytes(path, bytes);
    EXPECT_THROW(IndexOfModel::open(path)->check_all(cancelled), Error) << "byte " << i;
  }
}

TEST(Damage, OfAnyByteIsSeenAtOnce) {
  Model small({.seed = 44, .tracks = 2, .events = 120});
  expect_all_seen(IndexOfModel(small), 1000);
  // With groups of blocks, and tiles.
  Model large({.seed = 45, .tracks = 1, .events = 100'000});
  expect_all_seen(IndexOfModel(large), 100);
}

TEST(Damage, OfMessagesAndMetricsIsSeen) {
  Talk talk;
  const IndexOfModel index(talk);
  const auto answers_of = [&](const Index& one) {
    return ask_besides_calls(one, talk.definitions());
  };
  const std::vector<std::string> expected = answers_of(*index);
  EXPECT_EQ(expected.size(), 2u + 2 * 10);
  EXPECT_EQ(expected[0].front(), 10);  // messages
  EXPECT_EQ(expected[1].front(), 20);  // visits
  expect_refused_or_same(index, answers_of);
}

TEST(Damage, OfTheLengthIsSeen) {
  Model model({.seed = 42, .tracks = 2, .events = 300});
  const IndexOfModel index(model);
  const std::string good = test::read_bytes(index.path());
  const test::TempDirectory directory;
  const std::string path = directory / "view.timeloom";
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 50) {
    test::write_bytes(path, good.substr(0, size));
    EXPECT_THROW(IndexOfModel::open(path), Error) << size;
  }
  test::write_bytes(path, good + "12345678");
  EXPECT_THROW(IndexOfModel::open(path), Error);
}

TEST(Damage, OfAnotherArchiveIsSeen) {
  Model model({.seed = 43, .tracks = 1, .events = 30});
  const IndexOfModel index(model);
  auto file = std::make_unique<IndexFile>(IndexFile::open_to_read(index.path()), index.path());
  EXPECT_THROW(Index(std::move(file), IndexOfModel::kSource + 1), Error);
}

}  // namespace
}  // namespace timeloom::view
