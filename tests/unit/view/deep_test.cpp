// Stacks of ten thousand calls.

#include <gtest/gtest.h>

#include "support/one_location.hpp"
#include "view/answers/find.hpp"
#include "view/index/tile.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

constexpr std::uint32_t kDepth = 10'000;
constexpr std::uint64_t kRounds = 3;

// One function calls itself, one call per tick, and returns as often; three times.
class DeepRun : public test::OneLocation {
 public:
  DeepRun() {
    Region region;
    region.name = "f";
    definitions_.regions.push_back(region);
    std::uint64_t time = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      for (std::uint32_t i = 0; i < kDepth; ++i) add(time++, EventKind::kEnter);
      for (std::uint32_t i = 0; i < kDepth; ++i) add(time++, EventKind::kLeave);
    }
  }

 private:
  void add(std::uint64_t time, EventKind kind) { events_.push_back({Timestamp{time}, kind, 0, 0}); }
};

TEST(DeepStacks, AreAnsweredExactly) {
  DeepRun run;
  const IndexOfModel index(run);
  ASSERT_EQ(index->paths().size(), kDepth);
  EXPECT_EQ(index->tracks()[0].depth, kDepth);
  const auto track = index->track(0);

  // From the tenth call of the first round to the tenth of the last.
  const std::uint64_t from = 10, to = 4 * kDepth + 10;
  const RangeTable table = range_table(*index, std::vector<std::uint32_t>{0}, from, to);
  for (std::uint64_t depth = 0; depth < kDepth; ++depth) {
    const RangeSum& sum = table.sums[depth];
    const std::uint64_t whole = 2 * (kDepth - depth) - 1,
                        cut = depth < from ? depth + whole - from : whole;
    ASSERT_EQ(sum.visits, depth < 10 ? 3u : 2u) << depth;
    ASSERT_EQ(sum.cut_begin, depth < 10 ? 1u : 0u) << depth;
    ASSERT_EQ(sum.cut_end, depth < 10 ? 1u : 0u) << depth;
    ASSERT_EQ(sum.min, depth < 10 ? 10 - depth : whole) << depth;
    ASSERT_EQ(sum.max, whole) << depth;
    ASSERT_EQ(sum.inclusive, whole + cut + (depth < 10 ? 10 - depth : 0)) << depth;
  }

  CallQuestion question;
  question.from = 2 * kDepth + kDepth / 2;
  question.to = question.from + 1;
  const std::vector<Call> calls = calls_in(*track, question).calls;
  ASSERT_EQ(calls.size(), kDepth / 2 + 1);
  for (const Call& call : calls) {
    ASSERT_EQ(call.begin, 2 * kDepth + call.depth);
    ASSERT_EQ(call.end, 4 * kDepth - 1 - call.depth);
  }
  EXPECT_EQ(call_at(*track, 9'999, 3 * kDepth - 1).size(), 1u);
  const Picture picture = picture_at(*track, {3, 1}, kDepth / 2, 4096);
  EXPECT_EQ(picture.all_rows, kDepth + 1);
  EXPECT_EQ(picture.rows, 4096u);
}

}  // namespace
}  // namespace timeloom::view
