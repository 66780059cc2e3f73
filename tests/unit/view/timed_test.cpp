// Samples at their times equal the ones that are looked for in every event.

#include "view/answers/samples/timed_samples.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "view/page/html_file.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

using exchange::RunSample;
using exchange::RunSamples;

constexpr std::uint32_t kLibraries = 3;  // functions

// Samples at random times, some of them in functions of libraries.
std::shared_ptr<const RunSamples> random_samples(Model& model, std::size_t of_track) {
  auto samples = std::make_shared<RunSamples>();
  const auto regions = static_cast<std::uint32_t>(model.definitions().regions.size());
  samples->frames = {{}};
  for (std::uint32_t i = 0; i < kLibraries; ++i) {
    Region function;
    function.name = "libm: f" + std::to_string(i);
    samples->functions.push_back(function);
    samples->frames.push_back({RegionId{regions + i}});
  }
  for (std::size_t track = 0; track < model.tracks().size(); ++track) {
    std::vector<RunSample> all(of_track);
    for (RunSample& one : all) {
      one = {.time_ns = model.random_time(),
             .weight_ns = 1 + model.random(100),
             .line = static_cast<std::uint32_t>(model.random(9)),
             .frames = static_cast<std::uint32_t>(model.random(kLibraries + 1))};
    }
    std::ranges::sort(all, {}, &RunSample::time_ns);
    samples->of_location[model.definitions().locations[track].id] = all;
  }
  return samples;
}

// The region that is entered last and not left before the time.
std::uint32_t region_at(const ModelTrack& track, std::uint64_t time) {
  std::vector<std::uint32_t> open = {kNone};
  for (const Event& event : track.events) {
    if (ticks(event.time) - Model::kBegin >= time) break;
    if (event.kind == EventKind::kEnter) open.push_back(event.ref);
    if (event.kind == EventKind::kLeave) open.pop_back();
  }
  return open.back();
}

void compare_alone(const RunShape& shape, std::size_t of_track) {
  Model model(shape);
  const IndexOfModel index(model);
  const auto samples = random_samples(model, of_track);
  const TimedSamples timed(model.definitions(), samples);
  EXPECT_EQ(timed.count(), of_track * shape.tracks);
  const auto last = static_cast<std::uint32_t>(shape.tracks - 1);
  const std::uint64_t from = model.tracks()[last].end / 4, to = 3 * from;
  const auto found = timed.in(*index, {from, to, 1'000'000, 1, {last}});
  std::size_t at = 0;
  const auto regions = static_cast<std::uint32_t>(model.definitions().regions.size());
  for (const RunSample& sample : samples->of_location.at(model.definitions().locations[last].id)) {
    if (sample.time_ns < from || sample.time_ns >= to) continue;
    ASSERT_LT(at, found.size());
    const TimedSample& one = found[at++];
    const std::uint32_t region = region_at(model.tracks()[last], sample.time_ns);
    ASSERT_EQ(one.region, region) << "at " << sample.time_ns;
    EXPECT_EQ(one.hit, sample.frames == 0 ? region : regions + sample.frames - 1);
    EXPECT_EQ(
        std::tuple(one.samples, one.most, one.first, one.last, one.ns, one.line, one.track),
        std::tuple(1, 1, sample.time_ns, sample.time_ns, sample.weight_ns, sample.line, last));
  }
  EXPECT_EQ(at, found.size());
  EXPECT_GT(at, 0u);
}

TEST(Timed, SamplesAloneHaveTheirCalls) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    compare_alone({.seed = seed, .tracks = 2, .events = 3'000}, 200);
  }
}

TEST(Timed, BlocksBetweenSamplesAreLeftOut) {
  compare_alone({.seed = 5, .tracks = 1, .events = 400'000, .depth = 6}, 12);
}

TEST(Timed, QuestionsBeforeDoNotChangeAnAnswer) {
  Model model({.seed = 9, .tracks = 1, .events = 3'000});
  const IndexOfModel index(model);
  const auto samples = random_samples(model, 200);
  const TimedSamples asked(model.definitions(), samples), fresh(model.definitions(), samples);
  const std::uint64_t end = model.tracks()[0].end;
  asked.in(*index, {end / 2, end, 1'000, 1, {0}});
  asked.in(*index, {end / 8, end / 4, 1'000, 1, {0}});
  const TimedQuestion whole{0, kLastTime, 1'000, 1, {0}};
  EXPECT_EQ(asked.answer(asked.in(*index, whole)), fresh.answer(fresh.in(*index, whole)));
  const TimedQuestion across{end / 6, 3 * end / 4, 1'000, 1, {0}};
  EXPECT_EQ(asked.answer(asked.in(*index, across)), fresh.answer(fresh.in(*index, across)));
}

void damage_block(const std::string& path, const BlockRecord& block) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(block.offset));
  file << std::string(block.frame_bytes + block.token_bytes, 'x');
  ASSERT_TRUE(file.flush());
}

// A block that is damaged is one that no answer was made from.
TEST(Timed, AnAnswerReadsTheBlocksOfItsRangeAlone) {
  Model model({.seed = 10, .tracks = 1, .events = 50'000});
  const IndexOfModel index(model);
  const std::vector<BlockRecord>& blocks = index->track(0)->blocks();
  ASSERT_GT(blocks.size(), 6u);
  const std::size_t middle = blocks.size() / 2;
  for (std::size_t i = middle; i < blocks.size(); ++i) damage_block(index.path(), blocks[i]);
  const TimedSamples timed(model.definitions(), random_samples(model, 100));
  EXPECT_GT(timed.in(*index, {0, blocks[middle - 1].time, 100, 1, {0}}).size(), 0u);
  EXPECT_EQ(timed.in(*index, {kLastTime - 1, kLastTime, 100, 1, {0}}).size(), 0u);
  EXPECT_THROW(timed.in(*index, {0, kLastTime, 100, 1, {0}}), Error);
}

TEST(Timed, SamplesOfAColumnAreOne) {
  Model model({.seed = 6, .tracks = 3, .events = 3'000});
  const IndexOfModel index(model);
  const TimedSamples timed(model.definitions(), random_samples(model, 300));
  const std::uint64_t to = model.tracks()[0].end;
  const auto alone = timed.in(*index, {0, to, 300, 1, {0, 2}});
  const auto joined = timed.in(*index, {0, to, 10, 32, {0, 2}});
  EXPECT_LE(joined.size(), 64u);
  std::uint64_t sum = 0;
  for (const TimedSample& one : joined) {
    std::map<std::uint32_t, std::uint64_t> hits;
    std::uint64_t ns = 0, first = UINT64_MAX, last = 0;
    for (const TimedSample& other : alone) {
      if (other.track != one.track || other.first * 32 / to != one.first * 32 / to) continue;
      ++hits[other.hit];
      ns += other.ns;
      first = std::min(first, other.first);
      last = std::max(last, other.first);
    }
    std::uint64_t most = 0, all = 0;
    for (const auto& [hit, number] : hits) most = std::max(most, number), all += number;
    EXPECT_EQ(std::tuple(one.samples, one.most, one.ns, one.first, one.last),
              std::tuple(all, most, ns, first, last));
    EXPECT_EQ(hits[one.hit], most);
    sum += one.samples;
  }
  EXPECT_EQ(sum, alone.size());
}

TEST(Timed, TheAnswerNamesFunctionsOfLibrariesThatItHas) {
  Model model({.seed = 7, .tracks = 1, .events = 300});
  const IndexOfModel index(model);
  const auto samples = random_samples(model, 1);
  const TimedSamples timed(model.definitions(), samples);
  const auto found = timed.in(*index, {0, kLastTime, 9, 1, {0}});
  ASSERT_EQ(found.size(), 1u);
  const std::string answer = timed.answer(found);
  const RunSample& one = samples->of_location.begin()->second.front();
  const std::string name = one.frames == 0 ? "" : samples->functions[one.frames - 1].name + "\n";
  EXPECT_EQ(answer.size(), 8 + 5 * 8 + 4 * 8 + name.size());
  EXPECT_TRUE(answer.ends_with(name));
}

TEST(Timed, AFileHasAllSamplesOrNone) {
  Model model({.seed = 8, .tracks = 2, .events = 300});
  const IndexOfModel index(model);
  const TimedSamples timed(model.definitions(), random_samples(model, 20));
  const auto all = timed.in(*index, {0, kLastTime, 40, 1, {0, 1}});
  EXPECT_EQ(all.size(), 40u);
  EXPECT_EQ(sample_section(timed, *index, 40), timed.answer(all));
  EXPECT_EQ(sample_section(timed, *index, 39), std::nullopt);
}

}  // namespace
}  // namespace timeloom::view
