// Every definition and every event is read as it was written.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>

#include "core/error.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

void expect_same(const Definitions& read, const Definitions& written) {
  EXPECT_EQ(read.clock.ticks_per_second, written.clock.ticks_per_second);
  EXPECT_EQ(read.clock.begin, written.clock.begin);
  EXPECT_EQ(read.clock.length, written.clock.length);
  EXPECT_EQ(read.clock.realtime, written.clock.realtime);
  EXPECT_EQ(read.creator, written.creator);
  EXPECT_EQ(read.machine_name, written.machine_name);
  ASSERT_GE(read.strings.size(), written.strings.size());
  EXPECT_TRUE(std::equal(written.strings.begin(), written.strings.end(), read.strings.begin()));
  ASSERT_EQ(read.regions.size(), written.regions.size());
  for (std::size_t i = 0; i < read.regions.size(); ++i) {
    const Region& a = read.regions[i];
    const Region& b = written.regions[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.canonical_name, b.canonical_name);
    EXPECT_EQ(a.file, b.file);
    EXPECT_EQ(a.group, b.group);
    EXPECT_EQ(a.first_line, b.first_line);
    EXPECT_EQ(a.last_line, b.last_line);
    EXPECT_EQ(a.paradigm, b.paradigm);
    EXPECT_EQ(a.role, b.role);
  }
  ASSERT_EQ(read.groups.size(), written.groups.size());
  for (std::size_t i = 0; i < read.groups.size(); ++i) {
    EXPECT_EQ(read.groups[i].name, written.groups[i].name);
    EXPECT_EQ(read.groups[i].hostname, written.groups[i].hostname);
    EXPECT_EQ(read.groups[i].process_id, written.groups[i].process_id);
    EXPECT_EQ(read.groups[i].executable, written.groups[i].executable);
    EXPECT_EQ(read.groups[i].arguments, written.groups[i].arguments);
    EXPECT_EQ(read.groups[i].creator, written.groups[i].creator);
    EXPECT_EQ(read.groups[i].ending, written.groups[i].ending);
  }
  ASSERT_EQ(read.locations.size(), written.locations.size());
  for (std::size_t i = 0; i < read.locations.size(); ++i) {
    EXPECT_EQ(read.locations[i].id, written.locations[i].id);
    EXPECT_EQ(read.locations[i].name, written.locations[i].name);
    EXPECT_EQ(read.locations[i].group, written.locations[i].group);
    EXPECT_EQ(read.locations[i].type, written.locations[i].type);
    EXPECT_EQ(read.locations[i].thread_id, written.locations[i].thread_id);
    EXPECT_EQ(read.locations[i].event_count, written.locations[i].event_count);
  }
  ASSERT_EQ(read.parameters.size(), written.parameters.size());
  for (std::size_t i = 0; i < read.parameters.size(); ++i) {
    EXPECT_EQ(read.parameters[i].name, written.parameters[i].name);
    EXPECT_EQ(read.parameters[i].type, written.parameters[i].type);
  }
  ASSERT_EQ(read.metrics.size(), written.metrics.size());
  for (std::size_t i = 0; i < read.metrics.size(); ++i) {
    EXPECT_EQ(read.metrics[i].name, written.metrics[i].name);
    EXPECT_EQ(read.metrics[i].unit, written.metrics[i].unit);
    EXPECT_EQ(read.metrics[i].description, written.metrics[i].description);
    EXPECT_EQ(read.metrics[i].type, written.metrics[i].type);
  }
  ASSERT_EQ(read.markers.size(), written.markers.size());
  for (std::size_t i = 0; i < read.markers.size(); ++i) {
    EXPECT_EQ(read.markers[i].time, written.markers[i].time);
    EXPECT_EQ(read.markers[i].location, written.markers[i].location);
    EXPECT_EQ(read.markers[i].text, written.markers[i].text);
  }
}

// Compares strings by their text, because their numbers may differ.
void expect_same_events(const Story& read, const Story& written) {
  ASSERT_EQ(read.events.size(), written.events.size());
  for (const auto& [location, expected] : written.events) {
    const std::vector<Event>& found = read.events.at(location);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(describe(found[i]), describe(expected[i])) << "event " << i;
    }
  }
}

TEST(RoundTrip, KeepsEveryDefinitionAndEvent) {
  const TemporaryDirectory directory;
  const Story written = sample_run();
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  expect_same(found.definitions, written.definitions);
  expect_same_events(found, written);
}

// One event has the values of all of them; metrics of a process use an instance.
TEST(RoundTrip, KeepsMetricsThatAreSampledTogether) {
  const TemporaryDirectory directory;
  Story written = sample_run();
  Definitions& all = written.definitions;
  const auto add = [&](const char* name, const char* set) {
    Metric metric;
    metric.name = name;
    metric.unit = "s";
    metric.type = MetricValueType::kUint64;
    metric.source = MetricSource::kRusage;
    metric.mode = MetricMode::kAccumulatedStart;
    metric.exponent = -6;
    metric.set = set;
    all.metrics.push_back(metric);
    return static_cast<std::uint32_t>(all.metrics.size() - 1);
  };
  const std::uint32_t a = add("a", "thread:a,b,"), c = add("c", "process:c,"),
                      b = add("b", "thread:a,b,");
  const LocationId of_process{std::uint64_t{7} << 32};
  all.locations.push_back(
      {of_process, "Per process metrics", LocationGroupId{0}, LocationType::kMetric, 0, 0});
  using enum EventKind;
  written.events[of_process] = {event(1001, kMetric, c, 5), event(1002, kMetric, c, 6)};
  std::vector<Event>& first = written.events[LocationId{0}];
  first.insert(first.begin() + 1, {event(1001, kMetric, a, 1), event(1001, kMetric, b, 2)});
  std::ranges::sort(all.locations, {}, [](const Location& one) { return one.id.value(); });
  write(written, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  expect_same_events(found, written);
  EXPECT_EQ(found.definitions.metrics[a].unit, "s");
  EXPECT_EQ(found.definitions.metrics[a].exponent, -6);
  EXPECT_FALSE(found.definitions.metrics[a].binary);
  const auto count = [&](LocationId id) {
    return std::ranges::find(found.definitions.locations, id, &Location::id)->event_count;
  };
  EXPECT_EQ(count(LocationId{0}), first.size() - 1);
  EXPECT_EQ(count(of_process), 2u);
}

TEST(RoundTrip, KeepsProperties) {
  const TemporaryDirectory directory;
  write(sample_run(), directory.path());
  std::map<std::string, std::string> properties =
      read(directory.path() / "traces.otf2").definitions.properties;
  std::erase_if(properties, [](const auto& one) { return one.first.starts_with("OTF2::"); });
  EXPECT_EQ(properties, sample_run().definitions.properties);
}

TEST(RoundTrip, PropertiesAreThoseAtFinish) {
  const TemporaryDirectory directory;
  Definitions definitions = sample_run().definitions;
  definitions.locations.clear();
  definitions.markers.clear();
  const auto sink = create(directory.path());
  sink->begin(definitions);
  definitions.properties = {
      {"lost: how many?", "7"}, {"::a::", "8"}, {"OTF2::THREAD_LOCK_EVENT_COMPLETE", "true"}};
  sink->finish();
  const auto found = open(directory.path() / "traces.otf2");
  EXPECT_EQ(found->definitions().properties.at("timeloom::lost__how_many_"), "7");
  EXPECT_EQ(found->definitions().properties.at("_::A__"), "8");
  EXPECT_EQ(found->definitions().properties.at("OTF2::THREAD_LOCK_EVENT_COMPLETE"), "true");
  EXPECT_FALSE(found->definitions().properties.contains("timeloom::ending"));
}

// Puts the head of the first chunk in the place of the second chunk's head.
void expect_chunks_to_be_missed(const std::filesystem::path& run,
                                std::span<const Location> locations) {
  const std::filesystem::path anchor = run / "traces.otf2";
  EXPECT_EQ(unsound_files(anchor, locations), 0u);
  std::fstream file(run / "traces" / "0.evt", std::ios::in | std::ios::out | std::ios::binary);
  constexpr std::streamoff kChunk = 4 << 20;
  std::array<char, 64> head{};
  file.read(head.data(), head.size());
  file.seekp(kChunk);
  file.write(head.data(), head.size());
  file.close();
  EXPECT_EQ(unsound_files(anchor, locations), 1u);
}

// Several MiB of events, so that chunks are written while others are filled.
TEST(RoundTrip, ManyChunksFromSeveralThreads) {
  const TemporaryDirectory directory;
  Story written = sample_run();
  for (auto& [location, events] : written.events) {
    events.clear();
    std::uint64_t time = 1000 + location.value() % 97;
    for (std::uint32_t i = 0; i < 500'000; ++i) {
      const std::uint32_t region = i % 5;
      events.push_back(event(time, EventKind::kEnter, region));
      if (i % 7 == 0) events.push_back(event(time, EventKind::kMetric, 2, bits(0.5 * i)));
      time += i % 3;  // some times are equal
      events.push_back(event(time, EventKind::kLeave, region));
    }
  }
  for (Location& location : written.definitions.locations) {
    location.event_count = written.events[location.id].size();
  }
  write(written, directory.path());
  EXPECT_GT(std::filesystem::file_size(directory.path() / "traces" / "0.evt"), 6u << 20);
  for (const unsigned threads : {1u, 3u}) {
    const Story found = read(directory.path() / "traces.otf2", threads);
    for (std::size_t i = 0; i < found.definitions.locations.size(); ++i) {
      EXPECT_EQ(found.definitions.locations[i].event_count,
                written.definitions.locations[i].event_count);
    }
    expect_same_events(found, written);
  }
  expect_chunks_to_be_missed(directory.path(), written.definitions.locations);
}

TEST(RoundTrip, FeedsSeveralSinksAndMoreThanOnce) {
  const TemporaryDirectory directory;
  const Story written = sample_run();
  write(written, directory.path());
  const auto source = open(directory.path() / "traces.otf2");
  for (int time = 0; time < 2; ++time) {
    KeepingSink first;
    KeepingSink second;
    RunSink* const sinks[] = {&first, &second};
    source->replay(sinks, 2);
    expect_same_events(first.run(), written);
    expect_same_events(second.run(), written);
  }
}

TEST(RoundTrip, FloatParametersComeBack) {
  const TemporaryDirectory directory;
  Story run = sample_run();
  run.definitions.parameters = {{"ratio", ParameterType::kFloat}};
  run.events[LocationId{0}] = {event(1000, EventKind::kParameterFloat, 0, bits(0.1)),
                               event(1001, EventKind::kParameterFloat, 0, bits(-1e300))};
  write(run, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  std::vector<double> numbers;
  for (const Event& one : found.events.at(LocationId{0})) {
    EXPECT_EQ(one.kind, EventKind::kParameterFloat);
    numbers.push_back(one.as_double());
  }
  EXPECT_EQ(numbers, (std::vector<double>{0.1, -1e300}));
  EXPECT_EQ(found.definitions.parameters.at(0).type, ParameterType::kFloat);
  EXPECT_FALSE(found.definitions.properties.contains("timeloom::float_parameters"));
}

TEST(RoundTrip, TheEpochHoldsEveryEvent) {
  const TemporaryDirectory directory;
  Story run = sample_run();
  run.definitions.clock = {1'000'000'000, 5000, 10, 1'000'000};
  run.definitions.markers = {{Timestamp{9000}, LocationId{}, "everywhere"}};
  write(run, directory.path());
  const Definitions found = read(directory.path() / "traces.otf2").definitions;
  EXPECT_EQ(found.clock.begin, 1000u);   // the earliest event
  EXPECT_EQ(found.clock.length, 8000u);  // up to the marker
  EXPECT_EQ(found.clock.realtime, 1'000'000u - 4000u);
  ASSERT_EQ(found.markers.size(), 1u);
  EXPECT_FALSE(found.markers[0].location.defined());
}

TEST(RoundTrip, WithoutLocations) {
  const TemporaryDirectory directory;
  Story run;
  run.definitions.creator = "nobody";
  write(run, directory.path());
  const Story found = read(directory.path() / "traces.otf2");
  EXPECT_EQ(found.definitions.creator, "nobody");
  EXPECT_TRUE(found.events.empty());
}

TEST(RoundTrip, LocationsThatWereNeverOpened) {
  const TemporaryDirectory directory;
  const Story run = sample_run();
  const auto sink = create(directory.path());
  sink->begin(run.definitions);
  sink->finish();
  const Story found = read(directory.path() / "traces.otf2");
  ASSERT_EQ(found.events.size(), 3u);
  for (const auto& [location, events] : found.events) EXPECT_TRUE(events.empty());
}

// Definitions far larger than a chunk, and strings that have to be cut.
TEST(RoundTrip, LargeDefinitions) {
  const TemporaryDirectory directory;
  Story run = sample_run();
  run.events.at(LocationId{0}).clear();
  for (std::uint32_t i = 0; i < 500'000; ++i) {
    Region region;
    region.name = "m:f" + std::to_string(i);
    region.group = "m";
    run.definitions.regions.push_back(region);
  }
  run.definitions.strings = {"", std::string("a\0b", 3), std::string(3u << 20, 'x'),
                             std::string(20u << 20, 'y')};
  write(run, directory.path());
  const Definitions found = read(directory.path() / "traces.otf2").definitions;
  ASSERT_EQ(found.regions.size(), run.definitions.regions.size());
  EXPECT_EQ(found.regions.back().name, "m:f499999");
  EXPECT_EQ(found.regions.back().group, "m");
  EXPECT_EQ(found.strings.at(1), "a\u2400b");
  EXPECT_EQ(found.strings.at(2), run.definitions.strings[2]);
  EXPECT_EQ(found.strings.at(3), std::string(15u << 20, 'y') + "\u2026");
}

TEST(RoundTrip, AnUnfinishedArchiveHasNoAnchor) {
  const TemporaryDirectory directory;
  const Story run = sample_run();
  {
    const auto sink = create(directory.path());
    sink->begin(run.definitions);
    const auto events = sink->open_location(run.definitions.locations[0]);
    events->consume(run.events.at(LocationId{0}));
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "traces.otf2"));
  EXPECT_THROW(open(directory.path() / "traces.otf2"), Error);
}

}  // namespace

}  // namespace timeloom::otf2
