// Calls in random ranges, and search results, match the list of all calls.

#include <gtest/gtest.h>

#include "view/answers/find.hpp"
#include "view_model.hpp"

namespace timeloom::view {
namespace {

Call without_path(Call call) {
  call.path = kNone;
  return call;
}

void expect_same(const std::vector<Call>& expected, const std::vector<Call>& found,
                 const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(expected[i].begin, found[i].begin) << what << ", call " << i;
    ASSERT_EQ(expected[i], without_path(found[i])) << what << ", call " << i;
  }
}

std::vector<Call> expected_calls(const ModelTrack& track, const CallQuestion& question) {
  std::vector<Call> calls;
  for (const ModelCall& one : track.calls) {
    const bool deep = one.call.depth >= question.first_depth &&
                      one.call.depth - question.first_depth < question.depths;
    if (deep && is_in(one.call.begin, one.call.end, question.from, question.to)) {
      calls.push_back(one.call);
    }
  }
  return calls;
}

TEST(Calls, OfRandomRangesAreThoseOfTheRun) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RunShape shape{.seed = seed,
                         .tracks = 2,
                         .events = 30'000,
                         .depth = seed == 4 ? 300u : 12u,
                         .step = seed == 5 ? 1u : 50u};
    Model model(shape);
    const IndexOfModel index(model);
    for (int i = 0; i < 60; ++i) {
      CallQuestion question;
      question.from = model.random_time();
      question.to = model.random(3) == 0 ? model.random_time() : question.from + model.random(2000);
      if (question.from > question.to) std::swap(question.from, question.to);
      if (model.random(2) == 0) question.first_depth = static_cast<std::uint32_t>(model.random(10));
      if (model.random(2) == 0) question.depths = static_cast<std::uint32_t>(1 + model.random(5));
      const auto number = static_cast<std::uint32_t>(model.random(2));
      const auto track = index->track(number);
      const std::vector<Call> expected = expected_calls(model.tracks()[number], question);
      const CallAnswer answer = calls_in(*track, question);
      EXPECT_TRUE(answer.complete);
      expect_same(expected, answer.calls,
                  "seed " + std::to_string(seed) + " from " + std::to_string(question.from) +
                      " to " + std::to_string(question.to));
      for (const Call& call : answer.calls) {
        EXPECT_EQ(way_of(*index, call.path).size(), call.depth + 1);
        EXPECT_EQ(way_of(*index, call.path).back(), call.region);
      }
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST(Calls, UpToALimitAreTheFirst) {
  Model model({.seed = 11, .tracks = 1, .events = 20'000});
  const IndexOfModel index(model);
  const auto track = index->track(0);
  for (int i = 0; i < 40; ++i) {
    CallQuestion question;
    question.from = model.random_time();
    question.to = kLastTime;
    const std::vector<Call> expected = expected_calls(model.tracks()[0], question);
    question.limit = 1 + model.random(300);
    const CallAnswer answer = calls_in(*track, question);
    EXPECT_EQ(answer.complete, expected.size() <= question.limit);
    const std::size_t count = std::min(expected.size(), question.limit);
    expect_same({expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count)},
                answer.calls, "limit");
    if (!answer.complete) {
      EXPECT_LE(answer.until, std::max(question.from, expected[count].begin));
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(Calls, AtATimeAreTheOnesThatHoldIt) {
  Model model({.seed = 12, .tracks = 1, .events = 20'000});
  const IndexOfModel index(model);
  const auto track = index->track(0);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t time = model.random_time();
    const auto depth = static_cast<std::uint32_t>(model.random(8));
    std::vector<Call> expected;
    for (const ModelCall& one : model.tracks()[0].calls) {
      const bool holds = one.call.begin <= time && one.call.end > time;
      if (one.call.depth == depth && (holds || one.call.begin == time)) expected = {one.call};
    }
    expect_same(expected, call_at(*track, depth, time), "at " + std::to_string(time));
    if (HasFatalFailure()) return;
  }
}

bool before(const FoundCall& a, const FoundCall& b) {
  if (a.call.begin != b.call.begin) return a.call.begin < b.call.begin;
  if (a.track != b.track) return a.track < b.track;
  if (a.call.depth != b.call.depth) return a.call.depth < b.call.depth;
  if (a.call.end != b.call.end) return a.call.end < b.call.end;
  return a.call.region < b.call.region;
}

std::vector<FoundCall> expected_found(const Model& model, const FindQuestion& question) {
  std::vector<FoundCall> found;
  for (const std::uint32_t number : question.tracks) {
    for (const ModelCall& one : model.tracks()[number].calls) {
      const std::uint64_t duration = one.call.end - one.call.begin;
      const bool wanted =
          question.regions.empty() ||
          std::ranges::find(question.regions, one.call.region) != question.regions.end();
      if (wanted && one.call.begin >= question.from && one.call.begin < question.to &&
          duration >= question.shortest && duration <= question.longest) {
        found.push_back({number, one.call});
      }
    }
  }
  std::ranges::sort(found, before);
  if (question.order == FindOrder::kLatest) std::ranges::reverse(found);
  if (question.order == FindOrder::kLongest) {
    std::ranges::stable_sort(found, [](const FoundCall& a, const FoundCall& b) {
      return a.call.end - a.call.begin > b.call.end - b.call.begin;
    });
  }
  return found;
}

void compare_finds(const RunShape& shape, int questions) {
  Model model(shape);
  const IndexOfModel index(model);
  for (int i = 0; i < questions; ++i) {
    FindQuestion question;
    question.order = static_cast<FindOrder>(model.random(3));
    question.limit = 1 + model.random(model.random(2) == 0 ? 3 : 200);
    if (model.random(2) == 0) question.from = model.random_time();
    if (model.random(2) == 0) question.to = model.random_time();
    if (model.random(2) == 0) question.shortest = model.random(shape.step * 100 + 2);
    if (model.random(3) == 0)
      question.longest = question.shortest + model.random(shape.step * 50 + 2);
    for (std::uint32_t t = 0; t < shape.tracks; ++t) question.tracks.push_back(t);
    for (std::uint64_t r = model.random(3); r > 0; --r) {
      question.regions.push_back(static_cast<std::uint32_t>(model.random(shape.regions)));
    }
    const std::vector<FoundCall> expected = expected_found(model, question);
    const FindAnswer answer = find_calls(*index, question);
    if (answer.complete) {
      ASSERT_LE(expected.size(), question.limit);
    }
    ASSERT_EQ(answer.calls.size(), std::min(expected.size(), question.limit)) << "question " << i;
    for (std::size_t at = 0; at < answer.calls.size(); ++at) {
      ASSERT_EQ(answer.calls[at].track, expected[at].track);
      ASSERT_EQ(without_path(answer.calls[at].call), expected[at].call)
          << "question " << i << ", place " << at;
    }
  }
}

TEST(Find, FindsWhatIsThere) {
  for (std::uint64_t seed = 21; seed <= 24; ++seed) {
    compare_finds({.seed = seed, .tracks = 3, .events = 20'000, .depth = seed == 24 ? 200u : 12u},
                  test::rounds(20, 60));
  }
}

TEST(Find, FindsAmongManyBlocks) {
  compare_finds({.seed = 25, .tracks = 1, .events = 400'000, .depth = 8, .regions = 400}, 12);
}

TEST(Find, FindsAmongEventsAtOneTime) {
  compare_finds({.seed = 26, .tracks = 2, .events = 40'000, .regions = 5, .step = 1}, 40);
}

}  // namespace
}  // namespace timeloom::view
