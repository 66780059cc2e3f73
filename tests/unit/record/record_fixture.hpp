// A measurement in this process, and the records that a reader finds afterwards.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "../support/temp_directory.hpp"
#include "record/measurement.hpp"
#include "spool/reader.hpp"

namespace timeloom::record {

using Lines = std::vector<std::string>;

// "enter f", "leave f", "metric rss 5", "string p hello", "off": an event without its time.
inline std::string line_of(const spool::ProcessDefinitions& names, const Event& event) {
  const auto parameter = [&](const char* kind) {
    return std::string(kind) + " " + names.parameters.at(event.ref).name + " ";
  };
  switch (event.kind) {
    case EventKind::kEnter: return "enter " + names.regions.at(event.ref).name;
    case EventKind::kLeave: return "leave " + names.regions.at(event.ref).name;
    case EventKind::kParameterInt: return parameter("int") + std::to_string(event.as_int());
    case EventKind::kParameterUint: return parameter("uint") + std::to_string(event.value);
    case EventKind::kParameterFloat: return parameter("float") + std::to_string(event.as_double());
    case EventKind::kParameterString:
      return parameter("string") + names.strings.at(event.string().value());
    case EventKind::kMetric:
      return "metric " + names.metrics.at(event.ref).name + " " + std::to_string(event.value);
    case EventKind::kRecordingOff: return "off";
    case EventKind::kRecordingOn: return "on";
    case EventKind::kThreadCreate: return "create " + std::to_string(event.value);
    case EventKind::kThreadWait: return "wait " + std::to_string(event.value);
    case EventKind::kTrack: return "track " + std::to_string(event.ref);
    case EventKind::kTrackEnd: return "track end";
    case EventKind::kWaiting: return "waiting";
    default: return "?";
  }
}

struct Recorded {
  std::map<std::uint32_t, Lines> threads;  // by location
  spool::ProcessDefinitions definitions;
  std::uint64_t events = 0;
  std::uint64_t damage = 0;
};

inline Recorded read_spool(const std::string& directory) {
  const auto reader = spool::Reader::open(directory);
  Recorded result;
  result.definitions = reader->definitions();
  for (const std::uint32_t location : reader->locations()) {
    spool::LocationReader events = reader->read(location);
    std::vector<Event> batch;
    std::uint64_t last = 0;
    while (events.next(batch)) {
      for (const Event& event : batch) {
        EXPECT_GE(ticks(event.time), last);
        last = ticks(event.time);
        result.threads[location].push_back(line_of(result.definitions, event));
      }
      result.events += batch.size();
    }
    result.damage += events.damaged_segments();
  }
  const spool::Damage& damage = reader->damage();
  result.damage += damage.definitions + damage.segments + damage.missing_segments;
  return result;
}

class RecordTest : public ::testing::Test {
 protected:
  ~RecordTest() override { stop(); }

  static spool::WriterOptions small() {
    spool::WriterOptions options;
    options.segment_size = 4096;
    options.ring_size = 4 * options.segment_size;
    return options;
  }
  void begin(const spool::WriterOptions& writer = {}) {
    StartOptions options;
    options.spool_directory = path();
    options.writer = writer;
    options.process.name = "test";
    options.properties["key"] = "value";
    start(options);
  }
  // Ends the measurement and reads it.
  Recorded end() {
    totals_ = stop();
    return read_spool(path());
  }
  // Gives the next measurement a new spool.
  void next_spool() { ++spools_; }
  std::string path() const { return directory_ / ("spool-" + std::to_string(spools_)); }

  static EventWord region(const std::string& name) {
    Region region;
    region.name = name;
    return enter_word(define_region(region));
  }
  static void enter(EventWord word) {
    define(RegionId{payload_of(word)});
    t_recorder->enter(user_token(word), word);
  }
  static bool leave(EventWord word) { return t_recorder->leave(user_token(word)); }

  test::TempDirectory directory_;
  Totals totals_;
  int spools_ = 0;
};

}  // namespace timeloom::record
