// The CPU time of samples among the events of a location, and in the call paths of a profile.
#include "weave/samples/sampled_times.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weave/samples/sampled_places.hpp"

namespace timeloom::weave {
namespace {

constexpr MetricId kMetric{5};

// Writes the events as words.
struct WordsSink : RunSink {
  struct OfLocation : LocationSink {
    explicit OfLocation(std::string& to) : text(to) {}
    void consume(std::span<const Event> events) override {
      for (const Event& event : events) {
        if (event.kind == EventKind::kEnter) text += "enter ";
        if (event.kind == EventKind::kLeave) text += "leave ";
        if (event.kind == EventKind::kParameterInt) text += "parameter ";
        if (event.kind != EventKind::kMetric) continue;
        EXPECT_EQ(event.metric(), kMetric);
        text += std::to_string(event.value) + "@" + std::to_string(ticks(event.time)) + " ";
      }
    }
    void finish() override {}
    std::string& text;
  };
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<OfLocation>(text);
  }
  void finish() override {}
  std::string text;
};

Event event_at(std::uint64_t time, EventKind kind) { return {Timestamp{time}, kind, 0, 0}; }

std::string words_of(const SampledTimes& times, const std::vector<std::vector<Event>>& batches) {
  WordsSink words;
  SampledTimeSink sink(words, times, kMetric);
  Location location;
  location.id = LocationId{3};
  const auto open = sink.open_location(location);
  for (const auto& batch : batches) open->consume(batch);
  open->finish();
  return words.text;
}

TEST(SampledTimes, StandBeforeTheEnterOrLeaveThatFollowsThem) {
  using enum EventKind;
  const SampledTimes times = {{LocationId{3},
                               {{Timestamp{5}, 1},
                                {Timestamp{12}, 2},
                                {Timestamp{25}, 3},
                                {Timestamp{26}, 4},
                                {Timestamp{90}, 5}}},
                              {LocationId{4}, {{Timestamp{12}, 100}}}};
  const std::vector<Event> first = {event_at(10, kEnter), event_at(15, kParameterInt)};
  const std::vector<Event> second = {event_at(20, kEnter), event_at(30, kLeave),
                                     event_at(40, kLeave)};
  EXPECT_EQ(words_of(times, {first, {}, second}),
            "1@10 enter parameter 2@20 enter 3@30 4@30 leave leave ");
  EXPECT_EQ(words_of({}, {first, second}), "enter parameter enter leave leave ");
}

TEST(SampledPlaces, HaveTheRegionsOfTheProfile) {
  spool::ProfileData profile;
  profile.location = 1;
  profile.places.resize(3);
  profile.places[0].region = 7;
  profile.places[1].region = 8;
  profile.places[2].kind = spool::PlaceKind::kMetric;
  spool::SampleData data;
  const auto add = [&](std::uint32_t location, std::uint32_t place, std::uint32_t region) {
    spool::ThreadSample sample;
    sample.location = location;
    sample.place = place;
    sample.region = region;
    sample.weight_ns = 10;
    data.samples.push_back(sample);
  };
  add(1, 2, spool::kNoSampledRegion);
  add(1, 2, 20);                       // its stack has told the region
  add(1, 0, 7);                        // no place
  add(1, 3, spool::kNoSampledRegion);  // not a call path
  add(1, 4, spool::kNoSampledRegion);  // not there
  add(2, 1, spool::kNoSampledRegion);  // a thread without a profile
  const SampledPlaces places = take_places(data, std::span(&profile, 1));
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places.begin()->first, (std::pair{1u, 2u}));
  EXPECT_EQ(places.begin()->second.count, 2u);
  EXPECT_EQ(places.begin()->second.sum, 20);
  std::vector<std::uint32_t> regions, kept;
  for (const auto& sample : data.samples) {
    regions.push_back(sample.region);
    kept.push_back(sample.place);
  }
  constexpr std::uint32_t kNo = spool::kNoSampledRegion;
  EXPECT_EQ(regions, (std::vector<std::uint32_t>{8, 20, 7, kNo, kNo, kNo}));
  EXPECT_EQ(kept, (std::vector<std::uint32_t>{2, 2, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace timeloom::weave
