// A run with everything that core events can represent, and a sink that keeps the events of a
// source.
#pragma once

#include <unistd.h>
#include <bit>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "formats/otf2/otf2.hpp"

namespace timeloom::otf2 {

struct Story {
  Definitions definitions;
  std::map<LocationId, std::vector<Event>> events;
};

inline Event event(std::uint64_t time, EventKind kind, std::uint32_t ref = 0,
                   std::uint64_t value = 0) {
  return {Timestamp{time}, kind, ref, value};
}

inline std::uint64_t bits(std::int64_t value) { return std::bit_cast<std::uint64_t>(value); }
inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Two processes on two hosts, three threads; every kind of event except the float parameter, which
// is read back as text.
inline Story sample_run() {
  Story run;
  Definitions& all = run.definitions;
  all.clock = {2'000'000'000, 1000, 5000, 1'700'000'000'000'000'000};
  all.creator = "Timeloom 0.1.0";
  all.machine_name = "Großrechner";
  all.strings = {"", "alpha", "ключ", "タイムルーム"};
  all.regions = {
      {"__main__:<module>", "__main__:<module>", "/home/user/a.py", "__main__", 1, 0,
       Paradigm::kCompiler, RegionRole::kFunction},
      {"mod:Größe.__init__", "mod:Größe.__init__", "/home/user/größe.py", "mod", 12, 34,
       Paradigm::kCompiler, RegionRole::kFunction},
      {"loop λ", "loop λ", "", "", 0, 0, Paradigm::kUser, RegionRole::kLoop},
      {"MEASUREMENT OFF", "MEASUREMENT OFF", "", "", 0, 0, Paradigm::kMeasurement,
       RegionRole::kArtificial},
      {"MPI_Send", "mpi_send_", "MPI", "mod", 0, 0, Paradigm::kOther, RegionRole::kWrapper}};
  all.groups = {{"Process", "node1", 4711, "/usr/bin/python3", {"-m", "app", "--größe=1"}},
                {"Process 2", "node2", 0, "", {}, LocationGroupId{0}, "ended by SIGTERM"}};
  const std::uint64_t second = std::uint64_t{1} << 32;
  all.locations = {
      {LocationId{0}, "MainThread", LocationGroupId{0}, LocationType::kCpuThread, 4711, 0},
      {LocationId{1}, "Master", LocationGroupId{1}, LocationType::kCpuThread, 0, 0},
      {LocationId{second}, "Рабочий 1", LocationGroupId{0}, LocationType::kCpuThread, 4712, 0}};
  all.parameters = {{"step", ParameterType::kInt64},
                    {"bytes", ParameterType::kUint64},
                    {"label", ParameterType::kString}};
  all.metrics = {{"queue", "items", "length of the queue", MetricValueType::kInt64},
                 {"read", "bytes", "", MetricValueType::kUint64},
                 {"load", "", "", MetricValueType::kDouble}};
  all.markers = {{Timestamp{1100}, LocationId{0}, "begin of the phase"},
                 {Timestamp{1200}, LocationId{second}, "фаза"}};
  all.properties = {{"timeloom::lost_events", "12"}, {"timeloom::ending", "killed by signal 9"}};

  using enum EventKind;
  run.events[LocationId{0}] = {event(1000, kProgramBegin, 0),
                               event(1001, kEnter, 0),
                               event(1002, kEnter, 1),
                               event(1002, kParameterInt, 0, bits(std::int64_t{-5})),
                               event(1003, kParameterUint, 1, UINT64_MAX),
                               event(1004, kParameterString, 2, 3),
                               event(1004, kParameterString, 2, 0),
                               event(1005, kMetric, 0, bits(std::int64_t{-7})),
                               event(1005, kMetric, 1, 1u << 31),
                               event(1006, kMetric, 2, bits(0.1)),
                               event(1007, kRecordingOff),
                               event(2007, kRecordingOn),
                               event(2008, kLeave, 1),
                               event(2009, kLeave, 0),
                               event(6000, kProgramEnd, 0, bits(std::int64_t{3}))};
  run.events[LocationId{1}] = {event(1000, kProgramBegin, 1),
                               event(6000, kProgramEnd, 0, bits(kUnknownExitStatus))};
  run.events[LocationId{second}] = {event(1500, kEnter, 2), event(1600, kEnter, 2),
                                    event(1600, kLeave, 2), event(1700, kLeave, 2)};
  for (Location& location : all.locations) {
    location.event_count = run.events[location.id].size();
  }
  return run;
}

// Writes the run, every location on a separate thread.
inline void write(const Story& run, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const auto sink = create(directory);
  sink->begin(run.definitions);
  std::vector<std::future<void>> done;
  for (const Location& location : run.definitions.locations) {
    done.push_back(std::async(std::launch::async, [&] {
      const auto events = sink->open_location(location);
      constexpr std::size_t kBatch = 1000;
      const std::span<const Event> all(run.events.at(location.id));
      for (std::size_t at = 0; at < all.size(); at += kBatch) {
        events->consume(all.subspan(at, std::min(kBatch, all.size() - at)));
      }
      events->finish();
    }));
  }
  for (std::future<void>& one : done) one.get();
  sink->finish();
}

class KeepingSink : public RunSink {
 public:
  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<Keeper>(*this, location.id);
  }
  void finish() override { run_.definitions = *definitions_; }
  const Story& run() const { return run_; }

 private:
  class Keeper : public LocationSink {
   public:
    Keeper(KeepingSink& sink, LocationId location) : sink_(sink), location_(location) {}
    void consume(std::span<const Event> events) override {
      kept_.insert(kept_.end(), events.begin(), events.end());
    }
    void finish() override {
      const std::lock_guard lock(sink_.mutex_);
      sink_.run_.events[location_] = std::move(kept_);
    }

   private:
    KeepingSink& sink_;
    LocationId location_;
    std::vector<Event> kept_;
  };
  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  Story run_;
};

inline Story read(const std::filesystem::path& anchor, unsigned threads = 1) {
  const auto source = open(anchor);
  KeepingSink sink;
  RunSink* const sinks[] = {&sink};
  source->replay(sinks, threads);
  return sink.run();
}

inline std::string describe(const Event& one) {
  static const char* const kNames[] = {"enter",  "leave", "int", "uint",  "float", "string",
                                       "metric", "off",   "on",  "begin", "end"};
  std::ostringstream text;
  text << ticks(one.time) << " " << kNames[static_cast<int>(one.kind)] << " " << one.ref;
  if (one.value != 0) text << " " << one.value;
  return text.str();
}

inline std::vector<std::string> describe(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& one : events) lines.push_back(describe(one));
  return lines;
}

// A directory that is removed with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "timeloom-otf2-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace timeloom::otf2
