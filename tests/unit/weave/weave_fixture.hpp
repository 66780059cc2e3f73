// Runs made of spools, and their contents as lines of text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../spool/spool_fixture.hpp"
#include "core/event.hpp"
#include "formats/otf2/otf2.hpp"
#include "os/clock.hpp"
#include "weave/run.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// Keeps a run in memory: for each location the events with names instead of ids.
class Collector : public RunSink {
 public:
  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<Part>(*this, location);
  }
  void finish() override { finished_ = true; }

  std::map<std::string, Lines> lines;  // by name of the location
  std::map<std::string, std::vector<Event>> events;
  bool finished() const { return finished_; }

 private:
  class Part : public LocationSink {
   public:
    Part(Collector& all, const Location& location) : all_(all), name_(name_of(all, location)) {}
    void consume(std::span<const Event> batch) override {
      for (const Event& event : batch) {
        EXPECT_GE(event.time, events_.empty() ? Timestamp{} : events_.back().time);
        if (event.kind == EventKind::kEnter) ++depth_;
        if (event.kind == EventKind::kLeave) --depth_;
        EXPECT_GE(depth_, 0);
        events_.push_back(event);
        lines_.push_back(line_of(event));
      }
    }
    void finish() override {
      EXPECT_EQ(depth_, 0) << name_ << " is not balanced";
      const std::lock_guard lock(all_.mutex_);
      all_.lines[name_] = std::move(lines_);
      all_.events[name_] = std::move(events_);
    }

   private:
    static std::string name_of(const Collector& all, const Location& location) {
      const auto& groups = all.definitions_->groups;
      const std::size_t group = location.group.value();
      return (groups.size() > 1 ? groups[group].name + "/" : "") + location.name;
    }
    std::string line_of(const Event& event) const {
      const Definitions& d = *all_.definitions_;
      switch (event.kind) {
        case EventKind::kEnter: return "enter " + d.regions.at(event.ref).name;
        case EventKind::kLeave: return "leave " + d.regions.at(event.ref).name;
        case EventKind::kMetric:
          return "metric " + d.metrics.at(event.ref).name + " " + std::to_string(event.value);
        case EventKind::kParameterString:
          return "string " + d.parameters.at(event.ref).name + " " + d.strings.at(event.value);
        case EventKind::kThreadCreate: return "create " + std::to_string(event.value >> 32);
        case EventKind::kThreadBegin: return "thread " + std::to_string(event.value >> 32);
        case EventKind::kThreadEnd: return "ended " + std::to_string(event.value >> 32);
        case EventKind::kThreadWait: return "wait " + std::to_string(event.value >> 32);
        case EventKind::kTeamFork: return "fork " + with_index(event);
        case EventKind::kTeamJoin: return "join " + std::to_string(event.value >> 32);
        case EventKind::kTeamBegin: return "team " + with_index(event);
        case EventKind::kTeamEnd: return "team end " + std::to_string(event.value >> 32);
        case EventKind::kTaskCreate: return "task create " + std::to_string(event.value >> 32);
        case EventKind::kTaskSwitch: return "task " + std::to_string(event.value >> 32);
        case EventKind::kTaskComplete: return "task done " + std::to_string(event.value >> 32);
        case EventKind::kProgramBegin: return "begin";
        case EventKind::kProgramEnd: return "end";
        case EventKind::kRecordingOff: return "off";
        case EventKind::kRecordingOn: return "on";
        default: return d.parameters.at(event.ref).name + " " + std::to_string(event.value);
      }
    }
    static std::string with_index(const Event& event) {
      return std::to_string(event.value >> 32) + " " + std::to_string(event.ref);
    }
    Collector& all_;
    const std::string name_;
    int depth_ = 0;
    Lines lines_;
    std::vector<Event> events_;
  };

  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  bool finished_ = false;
};

inline std::unique_ptr<Collector> collect(RunSource& source, unsigned threads = 1) {
  auto collector = std::make_unique<Collector>();
  const std::array<RunSink*, 1> sinks{collector.get()};
  source.replay(sinks, threads);
  EXPECT_TRUE(collector->finished());
  return collector;
}

inline std::map<std::string, Lines> lines_of_trace(const fs::path& anchor) {
  return collect(*otf2::open(anchor))->lines;
}

class WeaveTest : public ::testing::Test {
 protected:
  // A spool of the run with clock, process and one region for each name, with ids from `first_id`
  // on.
  spool::Writer& spool(const std::string& process, const Lines& regions = {"f", "g"},
                       std::uint32_t first_id = 0) {
    fs::create_directories(run() / "spool");
    spool::WriterOptions options = small();
    if (keeps_newest_) options.size_limit = {1 << 18, AtLimit::kKeepNewest};
    if (clock_is_lost_) {
      // A waiting drain compares the clocks, and it starts with the second segment.
      options.drain_at_once = false;
      options.segment_size *= 16;
      options.ring_size *= 16;
    }
    writers_.push_back(spool::Writer::create((run() / "spool" / process).string(), options));
    spool::Writer& writer = *writers_.back();
    if (!clock_is_lost_) writer.define_clock_sync(os::sync_clocks());
    LocationGroup group;
    group.name = process;
    writer.define_process(group, "");
    for (const std::string& name : regions) {
      Region region;
      region.name = region.canonical_name = name;
      writer.define_region(RegionId{first_id++}, region);
    }
    writer.define_location(0, 1, "main");
    return writer;
  }
  static spool::WriterOptions small() {
    spool::WriterOptions options;
    options.segment_size = 4096;
    options.ring_size = 4 * 4096;
    return options;
  }
  static void end(spool::Writer& writer) {
    writer.define_clock_sync(os::sync_clocks());
    writer.close();
  }
  // Replaces the spool that is being written by its state after a kill.
  void kill(const std::string& process) {
    const fs::path path = run() / "spool" / process;
    const spool::Snapshot left = spool::Snapshot::of(path);
    for (auto& writer : writers_) writer->close();
    fs::remove_all(path);
    left.write_to(path);
  }
  // An ended run of one process: main enters f and g `calls` times.
  void simple_run(int calls = 3) {
    spool::Writer& writer = spool("p");
    write_calls(writer, 0, calls);
    end(writer);
  }
  static void write_calls(spool::Writer& writer, std::uint32_t location, int calls,
                          std::uint32_t first_id = 0) {
    spool::Pen pen(writer, location);
    pen.enter(os::now(), first_id);
    for (int i = 0; i < calls; ++i) {
      pen.enter(os::now(), first_id + 1);
      pen.leave(os::now(), first_id + 1);
    }
    pen.leave(os::now(), first_id);
  }
  static Lines calls(int count) {
    Lines lines{"enter f"};
    for (int i = 0; i < count; ++i) lines.insert(lines.end(), {"enter g", "leave g"});
    lines.push_back("leave f");
    return lines;
  }
  static Lines in_program(Lines lines) {
    lines.insert(lines.begin(), "begin");
    lines.push_back("end");
    return lines;
  }

  SpoolSource source() {
    std::vector<spool::SpoolDirectory> spools;
    for (const auto& entry : fs::directory_iterator(run() / "spool"))
      spools.emplace_back(entry.path());
    std::ranges::sort(spools, {}, &spool::SpoolDirectory::path);
    return SpoolSource(spools);
  }
  template <typename Function>
  static std::string error_of(Function function) {
    try {
      function();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(run()))
      result.push_back(entry.path().filename());
    std::sort(result.begin(), result.end());
    return result;
  }
  fs::path run() const { return directory_ / "run"; }

  bool clock_is_lost_ = false;  // spool() writes no comparison of the clocks
  bool keeps_newest_ = false;   // spool() drops the oldest events at 256 KiB
  test::TempDirectory directory_;
  std::vector<std::unique_ptr<spool::Writer>> writers_;
};

}  // namespace timeloom::weave
