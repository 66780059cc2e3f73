// Values of many metrics of a track: equal when read together or alone, and read from its blocks
// once.

#include <gtest/gtest.h>

#include <fstream>

#include "support/one_location.hpp"
#include "view/answers/auxiliary_events.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

constexpr std::uint32_t kMetrics = 16;
constexpr std::uint64_t kSteps = 20'000;

// One location on which all metrics get a value at each step.
class MetricRun : public test::OneLocation {
 public:
  MetricRun() {
    for (std::uint32_t i = 0; i < kMetrics; ++i) {
      definitions_.metrics.push_back({"m" + std::to_string(i), "", "", MetricValueType::kUint64});
    }
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      for (std::uint32_t i = 0; i < kMetrics; ++i) {
        events_.push_back({Timestamp{step * 10}, EventKind::kMetric, i, (step * (i + 7)) % 1001});
      }
    }
  }
};

// System calls of this process that have read; 0: not known.
std::uint64_t reads() {
  std::ifstream file("/proc/self/io");
  for (std::string name; file >> name;) {
    std::uint64_t value = 0;
    if (file >> value && name == "syscr:") return value;
  }
  return 0;
}

TEST(Values, OfManyMetricsAreReadOnce) {
  MetricRun run;
  const IndexOfModel index(run);
  const AuxiliaryEvents events(*index, run.definitions());
  std::vector<ValuesQuestion> all;
  for (std::uint32_t i = 0; i < kMetrics; ++i) all.push_back({{0, i}, 90'000, 91'000});
  const auto read_by = [&](std::span<const ValuesQuestion> questions) {
    const std::uint64_t before = reads();
    const auto found = values_in(*index, events, run.definitions(), questions);
    return std::pair(found, reads() - before);
  };
  const auto [together, reads_together] = read_by(all);
  std::uint64_t reads_alone = 0;
  for (std::uint32_t i = 0; i < kMetrics; ++i) {
    const auto [alone, count] = read_by({&all[i], 1});
    reads_alone = std::max(reads_alone, count);
    ASSERT_GT(alone.front().size(), 100u);
    ASSERT_EQ(together[i].size(), alone.front().size());
    for (std::size_t at = 0; at < together[i].size(); ++at) {
      ASSERT_EQ(together[i][at].begin, alone.front()[at].begin);
      ASSERT_EQ(together[i][at].last, alone.front()[at].last);
      ASSERT_EQ(together[i][at].count, 1u);
    }
  }
  EXPECT_LE(reads_together, reads_alone);
}

TEST(Values, OfRangesThatDoNotOverlapAreThoseOfEach) {
  MetricRun run;
  const IndexOfModel index(run);
  const AuxiliaryEvents events(*index, run.definitions());
  const std::vector<ValuesQuestion> all = {{{0, 3}, 150'000, 150'500},
                                           {{0, 3}, 1'000, 1'500},
                                           {{0, 9}, 150'200, 150'900},
                                           {{1, 0}, 0, 9}};
  const auto found = values_in(*index, events, run.definitions(), all);
  EXPECT_TRUE(found[3].empty());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto alone = values_in(*index, events, run.definitions(), {&all[i], 1}).front();
    ASSERT_EQ(found[i].size(), alone.size());
    EXPECT_LE(found[i].front().begin, all[i].from);
    EXPECT_GE(found[i].back().begin, all[i].to);
  }
}

}  // namespace
}  // namespace timeloom::view
