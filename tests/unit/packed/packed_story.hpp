// A run with events of every kind and more than one block a location, and a sink that keeps events.
#pragma once

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "core/io.hpp"

namespace timeloom {

inline bool operator==(const Event& a, const Event& b) {
  return a.time == b.time && a.kind == b.kind && a.ref == b.ref && a.value == b.value;
}

namespace packed {

struct Story {
  Definitions definitions;
  std::map<LocationId, std::vector<Event>> events;
};

inline Definitions story_definitions() {
  Definitions all;
  all.clock = {1'000'000'000, 500, 1'000'000, 1'700'000'000'000'000'000};
  all.creator = "Timeloom 0.1.0";
  all.machine_name = "Großrechner";
  all.strings = {"", "alpha", "ключ"};
  for (std::uint32_t i = 0; i < 600; ++i) {
    Region region;
    region.name = "module.function" + std::to_string(i);
    region.canonical_name = region.name;
    region.file = "/home/user/module.py";
    region.group = "module";
    region.first_line = i + 1;
    region.paradigm = Paradigm::kCompiler;
    region.role = RegionRole::kFunction;
    all.regions.push_back(region);
  }
  all.groups = {{"Process", "node1", 4711, "/usr/bin/python3", {"-m", "app"}},
                {"Process 2", "node2", 0, "", {}, LocationGroupId{0}, "ended by SIGTERM", "P2"}};
  all.locations = {
      {LocationId{0}, "MainThread", LocationGroupId{0}, LocationType::kCpuThread, 4711, 0},
      {LocationId{1}, "Рабочий", LocationGroupId{1}, LocationType::kCpuThread, 0, 0, "Master"},
      {LocationId{7}, "idle", LocationGroupId{0}, LocationType::kAcceleratorStream, 4713, 0}};
  all.contexts = {{"CUDA Context 1", "0", LocationGroupId{0}}};
  all.locations[2].context = ContextId{0};
  all.locations[2].feeder = LocationId{0};
  all.parameters = {{"step", ParameterType::kInt64}, {"label", ParameterType::kString}};
  all.metrics = {{"load", "", "", MetricValueType::kDouble}, {"read", "bytes", "text"}};
  all.metrics[1].exponent = -9;
  all.metrics[1].set = "thread:1";
  all.communicators = {{"world", {}, false, {LocationId{0}, LocationId{}}, 17}};
  all.io_handles = {{"", "/tmp/a", IoParadigm::kIsoC}, {"pipe", "", IoParadigm::kPosix}};
  all.markers = {{Timestamp{700}, LocationId{0}, "фаза"}};
  all.properties = {{"timeloom::lost_events", "12"}};
  return all;
}

// An event that refers to what story_definitions() define; not an enter or a leave.
inline Event other_event(std::mt19937_64& random, std::uint64_t time) {
  using enum EventKind;
  constexpr std::array kKinds = {kParameterInt, kParameterString,    kMetric,   kRecordingOff,
                                 kProgramBegin, kThreadCreate,       kWaiting,  kIoOffset,
                                 kIoCreate,     kIoDuplicate,        kIoDelete, kIoRead,
                                 kOperand,      kMpiCollectiveBegin, kMpiSend,  kCommCreate,
                                 kTeamFork,     kTaskComplete,       kRmaGet,   kRmaDone};
  const EventKind kind = kKinds[random() % kKinds.size()];
  Event event{Timestamp{time}, kind, 0, random() >> (random() % 64)};
  if (kind == kParameterString) event.ref = 1;
  if (kind == kParameterString || kind == kIoDelete) event.value %= 3;
  if (kind == kIoDuplicate) event.value = io_word(1, 4);
  if (kind == kMetric || kind == kIoRead || kind == kOperand) event.ref = random() % 2;
  return event;
}

// Calls, among them deep ones, with other events between them; all regions are left at the end.
inline std::vector<Event> story_events(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  std::vector<std::uint32_t> open;
  std::uint64_t time = 1000;
  while (events.size() < count) {
    constexpr std::array<unsigned, 6> kBits = {6, 8, 8, 10, 20, 50};
    const bool rare = random() % 1000 == 0;
    time += random() & ((std::uint64_t{1} << kBits[rare ? 5 : random() % 5]) - 1);
    const auto chance = random() % 100;
    if (chance < 10) {
      events.push_back(other_event(random, time));
    } else if (chance < 55 || open.empty()) {
      open.push_back(static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? 600 : 20)));
      events.push_back({Timestamp{time}, EventKind::kEnter, open.back(), 0});
    } else {
      events.push_back({Timestamp{time}, EventKind::kLeave, open.back(), 0});
      open.pop_back();
    }
  }
  for (; !open.empty(); open.pop_back()) {
    events.push_back({Timestamp{time}, EventKind::kLeave, open.back(), 0});
  }
  return events;
}

inline Story story() {
  Story run;
  run.definitions = story_definitions();
  run.events[LocationId{0}] = story_events(1, 70'000);
  run.events[LocationId{1}] = story_events(2, 3000);
  run.events[LocationId{7}] = {};
  return run;
}

inline void tell(const Story& story, RunSink& sink) {
  sink.begin(story.definitions);
  for (const Location& location : story.definitions.locations) {
    const auto opened = sink.open_location(location);
    std::span<const Event> events = story.events.at(location.id);
    for (std::size_t part = 1; !events.empty(); part = part * 7 % 5000 + 1) {
      const std::size_t size = std::min(part, events.size());
      opened->consume(events.first(size));
      events = events.subspan(size);
    }
    opened->finish();
  }
  sink.finish();
}

class KeptEvents : public RunSink {
 public:
  std::map<LocationId, std::vector<Event>> events;

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<OfLocation>(events[location.id]);
  }
  void finish() override {}

 private:
  class OfLocation : public LocationSink {
   public:
    explicit OfLocation(std::vector<Event>& to) : to_(to) {}
    void consume(std::span<const Event> some) override {
      to_.insert(to_.end(), some.begin(), some.end());
    }
    void finish() override {}

   private:
    std::vector<Event>& to_;
  };
  std::mutex mutex_;
};

inline std::map<LocationId, std::vector<Event>> events_of(RunSource& source) {
  KeptEvents kept;
  const std::array<RunSink*, 1> sinks = {&kept};
  source.replay(sinks, 2);
  return std::move(kept.events);
}

// Whether a sink may be given these events.
inline bool is_balanced(std::span<const Event> events, std::vector<std::uint32_t> open = {}) {
  Timestamp last{};
  for (const Event& event : events) {
    if (event.time < last) return false;
    last = event.time;
    if (event.kind == EventKind::kEnter) open.push_back(event.ref);
    if (event.kind != EventKind::kLeave) continue;
    if (open.empty() || open.back() != event.ref) return false;
    open.pop_back();
  }
  return true;
}

}  // namespace packed
}  // namespace timeloom
