// A spool on disk for the tests: threads that put events into it, and the events that a reader
// finds, both as lines of text.
//
//   Pen pen(writer, 3);          // thread 3
//   pen.enter(100, 7);           // enters region 7 at tick 100
//   pen.lines()                  // "100 enter 7"
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "core/event_word.hpp"
#include "spool/reader.hpp"
#include "spool/writer.hpp"

namespace timeloom::spool {

using Lines = std::vector<std::string>;

inline std::string line_of(const Event& event) {
  static const char* const kNames[] = {"enter",  "leave",  "int", "uint", "float",
                                       "string", "metric", "off", "on"};
  const auto kind = static_cast<std::size_t>(event.kind);
  std::string line = std::to_string(ticks(event.time)) + " " +
                     (kind < std::size(kNames) ? kNames[kind] : std::to_string(kind));
  const bool bare = event.kind == EventKind::kRecordingOff || event.kind == EventKind::kRecordingOn;
  if (!bare) line += " " + std::to_string(event.ref);
  const bool valued = !bare && event.kind != EventKind::kEnter && event.kind != EventKind::kLeave;
  if (valued) line += " " + std::to_string(event.value);
  return line;
}

// One thread that records like src/record, but with times that the test gives.
class Pen {
 public:
  Pen(Writer& writer, std::uint32_t location) : writer_(writer), location_(location) {}
  ~Pen() { retire(); }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  void enter(std::uint64_t time, std::uint32_t region) {
    put(time, make_word(WordKind::kEnter, region), {});
    note({Timestamp{time}, EventKind::kEnter, region, 0});
  }
  void leave(std::uint64_t time, std::uint32_t region) {
    put(time, make_word(WordKind::kLeave, region), {});
    note({Timestamp{time}, EventKind::kLeave, region, 0});
  }
  void valued(std::uint64_t time, EventKind kind, std::uint32_t ref, std::uint64_t value) {
    put(time, make_extended(extended_of(kind), 2), {ref, value});
    note({Timestamp{time}, kind, ref, value});
  }
  void recording(std::uint64_t time, bool on) {
    put(time, make_extended(on ? ExtendedKind::kRecordingOn : ExtendedKind::kRecordingOff, 0), {});
    note({Timestamp{time}, on ? EventKind::kRecordingOn : EventKind::kRecordingOff, 0, 0});
  }
  void time_base(std::uint64_t time) {
    put(time, make_extended(ExtendedKind::kTimeBase, 1), {time}, false);
    base_ = time;
  }
  // Any words, without an expectation; `timed`: they include a time.
  void raw(std::uint64_t time, EventWord head, const std::vector<std::uint64_t>& words,
           bool timed = false) {
    put(time, head, words, timed);
  }
  // Hands the segment back; the next event takes a new one.
  void retire() {
    if (segment_ != nullptr) writer_.retire(segment_, used_);
    segment_ = nullptr;
  }
  bool out_of_space() const { return out_of_space_; }

  // The events put, by segment.
  const std::vector<Lines>& segments() const { return segments_; }
  Lines lines() const {
    Lines all;
    for (const Lines& one : segments_) all.insert(all.end(), one.begin(), one.end());
    return all;
  }

 private:
  static ExtendedKind extended_of(EventKind kind) {
    return static_cast<ExtendedKind>(static_cast<int>(ExtendedKind::kParameterInt) +
                                     static_cast<int>(kind) -
                                     static_cast<int>(EventKind::kParameterInt));
  }
  void put(std::uint64_t time, EventWord head, std::vector<std::uint64_t> words,
           bool timed = true) {
    if (segment_ == nullptr || !reaches(used_ + 1 + words.size())) {
      retire();
      out_of_space_ = !take(time);
      if (out_of_space_) return;
    }
    std::copy(words.begin(), words.end(), segment_->words() + used_ + 1);
    segment_->words()[used_] = timed ? at(head, time - base_) : head;
    used_ += 1 + words.size();
  }
  bool reaches(std::size_t words) {
    while (words > segment_->room()) {
      if (!writer_.extend(segment_)) return false;
    }
    return true;
  }
  bool take(std::uint64_t time) {
    segment_ = writer_.acquire(location_, segments_.size(), time);
    if (segment_ == nullptr) return false;
    segments_.emplace_back();
    used_ = 0;
    base_ = time;
    return true;
  }
  void note(const Event& event) {
    if (!out_of_space_) segments_.back().push_back(line_of(event));
  }

  Writer& writer_;
  const std::uint32_t location_;
  Segment* segment_ = nullptr;
  std::size_t used_ = 0;
  std::uint64_t base_ = 0;
  bool out_of_space_ = false;
  std::vector<Lines> segments_;
};

inline Lines lines_of(LocationReader& reader) {
  Lines result;
  std::vector<Event> batch;
  while (reader.next(batch)) {
    for (const Event& event : batch) result.push_back(line_of(event));
  }
  return result;
}

// All records that a reader finds in a spool.
struct Found {
  std::map<std::uint32_t, Lines> events;  // by thread
  Lines definitions;
  std::uint64_t damage = 0;  // number of damaged places
  bool ended = false;
  std::uint64_t lost = 0;
};

inline void add_definitions(const ProcessDefinitions& from, Lines& to) {
  const auto id = [](std::uint32_t value) { return std::to_string(value); };
  if (from.process.process_id != 0) {
    to.push_back("process " + std::to_string(from.process.process_id) + " " +
                 from.process.hostname + " " + from.process.name + " " + from.process.executable);
    for (const std::string& argument : from.process.arguments) to.push_back("argument " + argument);
  }
  for (const auto& sync : from.clock_syncs) {
    to.push_back("sync " + std::to_string(sync.ticks) + " " + std::to_string(sync.monotonic_ns) +
                 " " + std::to_string(sync.realtime_ns));
  }
  for (const auto& [key, text] : from.strings) to.push_back("string " + id(key) + " " + text);
  for (const auto& [key, r] : from.regions) {
    to.push_back("region " + id(key) + " " + r.name + " " + r.canonical_name + " " + r.file + " " +
                 r.group + " " + id(r.first_line) + " " + id(r.last_line) + " " +
                 id(static_cast<std::uint32_t>(r.paradigm)) + " " +
                 id(static_cast<std::uint32_t>(r.role)));
  }
  for (const auto& [key, p] : from.parameters) {
    to.push_back("parameter " + id(key) + " " + p.name + " " +
                 id(static_cast<std::uint32_t>(p.type)));
  }
  for (const auto& [key, m] : from.metrics) {
    to.push_back("metric " + id(key) + " " + m.name + " " + m.unit + " " + m.description + " " +
                 id(static_cast<std::uint32_t>(m.type)));
  }
  for (const auto& [key, t] : from.threads) {
    to.push_back("thread " + id(key) + " " + t.name + " " + std::to_string(t.thread_id));
  }
  for (const auto& m : from.markers) {
    to.push_back("marker " + id(m.thread) + " " + std::to_string(m.ticks) + " " + m.text);
  }
  for (const auto& [key, value] : from.properties) {
    to.push_back(std::string("property ").append(key).append(" ").append(value));
  }
}

inline Found read_spool(const std::string& directory) {
  const auto reader = Reader::open(directory);
  Found found;
  for (const std::uint32_t location : reader->locations()) {
    LocationReader events = reader->read(location);
    Lines lines = lines_of(events);
    if (!lines.empty()) found.events[location] = std::move(lines);
    found.damage += events.damaged_segments();
  }
  add_definitions(reader->definitions(), found.definitions);
  const Damage& damage = reader->damage();
  found.damage += damage.definitions + damage.segments + damage.missing_segments;
  found.ended = reader->definitions().ended;
  found.lost = reader->definitions().lost_events;
  return found;
}

// The files of a spool at one moment: the state on disk when the process is killed.
struct Snapshot {
  std::map<std::string, std::string> files;

  static Snapshot of(const std::filesystem::path& directory) {
    Snapshot result;
    // The drain may be at work meanwhile. It empties a segment of the ring after writing it to the
    // log, so the log is read last.
    for (const char* name : {"defs", "ring", "log"}) {
      if (std::filesystem::exists(directory / name)) {
        result.files[name] = test::read_bytes(directory / name);
      }
    }
    return result;
  }
  void write_to(const std::filesystem::path& directory) const {
    std::filesystem::create_directory(directory);
    for (const auto& [name, bytes] : files) test::write_bytes(directory / name, bytes);
  }
};

class SpoolTest : public ::testing::Test {
 protected:
  static WriterOptions small(std::uint64_t segments = 4) {
    WriterOptions options;
    options.segment_size = 4096;
    options.ring_size = segments * options.segment_size;
    return options;
  }
  Writer& create(const WriterOptions& options = small()) {
    writer_ = Writer::create(path(), options);
    return *writer_;
  }
  std::string path() const { return directory_ / "spool"; }
  Found read() const { return read_spool(path()); }
  ProcessDefinitions read_definitions() const { return Reader::open(path())->definitions(); }
  Found close_and_read() {
    writer_->close();
    return read();
  }
  // The records that a reader would find if the process were killed now.
  Found read_as_if_killed() {
    const std::string copy = directory_ / ("killed-" + std::to_string(copies_++));
    Snapshot::of(path()).write_to(copy);
    return read_spool(copy);
  }
  // The writer knows that all segments are used up, so a lost event does not search for one, which
  // would cost CPU time. The drain may be about to give the last ones back.
  static void expect_no_more_looks(Writer& writer) {
    constexpr std::uint32_t kOther = 9;  // a location
    std::uint64_t before = 0, given = 0;
    int refused = 0;
    while (refused < 1000) {
      if (writer.acquire(kOther, given, 1) != nullptr) ++given;
      before = writer.cpu_ns();
      for (refused = 0; refused < 1000; ++refused) {
        if (writer.acquire(kOther, given, 1) == nullptr) continue;
        ++given;
        break;
      }
    }
    EXPECT_EQ(writer.cpu_ns(), before);
  }
  bool exists(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::path(path()) / name);
  }

  test::TempDirectory directory_;
  std::unique_ptr<Writer> writer_;
  int copies_ = 0;
};

}  // namespace timeloom::spool
