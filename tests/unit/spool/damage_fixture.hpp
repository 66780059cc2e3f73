// A spool to be damaged byte by byte. Sound parts are read, damaged ones are counted; nothing is
// ever misread.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "../support/thorough.hpp"
#include "spool/spool_format.hpp"
#include "spool_fixture.hpp"

namespace timeloom::spool {

class DamageTest : public SpoolTest {
 protected:
  // Two threads, several segments each, one definition of every kind.
  void record(const WriterOptions& options = small(8)) {
    Writer& writer = create(options);
    writer.define_clock_sync({1, 2, 3});
    writer.define_process({"app", "node", 4711, "/bin/python", {"a", "b"}}, "");
    writer.define_region(RegionId{1},
                         {"f", "m.f", "m.py", "m", 1, 2, Paradigm::kUser, RegionRole::kLoop});
    writer.define_location(0, 100, "Master thread");
    writer.define_location(1, 101, "Thread 1");
    writer.define_string(StringId{0}, "text");
    writer.define_parameter(ParameterId{0}, {"p", ParameterType::kString});
    writer.define_metric(MetricId{0}, {"rss", "B", "size", MetricValueType::kUint64});
    writer.define_marker(0, 5, "mark");
    writer.define_property("key", "value");
    for (std::uint32_t location = 0; location < 2; ++location) {
      pens_.push_back(std::make_unique<Pen>(writer, location));
    }
    for (int segment = 0; segment < 3; ++segment) {
      for (auto& pen : pens_) {
        pen->retire();
        for (std::uint32_t i = 0; i < 20; ++i) step(*pen, i);
      }
    }
    if (!wait_for_drain(4)) FAIL() << "the drain does not drain";
  }
  void step(Pen& pen, std::uint32_t i) {
    ++time_;
    if (i % 5 == 0) {
      pen.valued(time_, EventKind::kMetric, i, time_);
    } else if (i % 2 == 0) {
      pen.enter(time_, i);
    } else {
      pen.leave(time_, i);
    }
  }
  // Waits until `segments` segments are in the log and their places are free.
  bool wait_for_drain(std::size_t segments) {
    for (int i = 0; i < 5000; ++i) {
      const std::string ring = test::read_bytes(path() + "/ring");
      std::size_t waiting = 0, active = 0;
      for (std::size_t at = 65536; at < ring.size(); at += 4096) {
        if (ring[at + 4] == 1) ++active;
        if (ring[at + 4] == 2 || ring[at + 4] == 3) ++waiting;
      }
      if (waiting == 0 && active == 6 - segments) return true;
      ::usleep(1000);
    }
    return false;
  }

  // Copies the current spool to a new directory, to be damaged there.
  void take(const std::string& name) {
    victim_ = directory_ / name;
    sound_ = Snapshot::of(path());
    sound_.write_to(victim_);
    truth_ = read_spool(victim_);
    ASSERT_EQ(truth_.damage, 0u);
    for (auto& pen : pens_) ASSERT_EQ(truth_.events.at(index_of(pen)), pen->lines());
  }
  std::uint32_t index_of(const std::unique_ptr<Pen>& pen) const {
    return static_cast<std::uint32_t>(&pen - pens_.data());
  }

  // Reads the damaged spool; nullopt when the reader reported that it cannot.
  std::optional<Found> read_victim() {
    try {
      return read_spool(victim_);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(victim_), std::string::npos) << error.what();
      return std::nullopt;
    }
  }

  // A ring is mostly empty: the first bytes of each segment are all tried, and some of the others,
  // at each place in a word.
  static bool is_tried(const std::string& name, std::size_t byte) {
    return test::thorough() || name != "ring" || byte % 4096 < 256 || byte % 29 == 0;
  }
  // The flips of a byte: all bits, one bit, the lowest one; of these a single one, by turns, where
  // the run is not thorough.
  static std::vector<unsigned> masks_of(std::size_t byte) {
    const std::vector<unsigned> all = {0xffu, 1u << (byte % 8), 1u};
    return test::thorough() ? all : std::vector{all[byte % 3]};
  }

  template <typename Check>
  void flip_each_byte(const char* name, std::size_t begin, std::size_t end, const Check& check) {
    const int fd = ::open((victim_ + "/" + name).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    const std::string& bytes = sound_.files.at(name);
    end = std::min(end, bytes.size());
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_tried(name, i)) continue;
      for (const unsigned mask : masks_of(i)) {
        const char flipped = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ mask);
        ASSERT_EQ(::pwrite(fd, &flipped, 1, static_cast<off_t>(i)), 1);
        SCOPED_TRACE(std::string(name) + " byte " + std::to_string(i) + " mask " +
                     std::to_string(mask));
        check(read_victim());
      }
      ASSERT_EQ(::pwrite(fd, &bytes[i], 1, static_cast<off_t>(i)), 1);
      if (HasFailure()) break;
    }
    ::close(fd);
  }
  template <typename Check>
  void cut_at_each_byte(const char* name, std::size_t begin, const Check& check) {
    const std::string& bytes = sound_.files.at(name);
    for (std::size_t size = bytes.size(); size-- > begin;) {
      if (!is_tried(name, size)) continue;
      ASSERT_EQ(::truncate((victim_ + "/" + name).c_str(), static_cast<off_t>(size)), 0);
      SCOPED_TRACE(std::string(name) + " cut to " + std::to_string(size));
      check(read_victim(), size);
      if (HasFailure()) break;
    }
    test::write_bytes(victim_ + "/" + name, bytes);
  }
  // A flip costs one segment at most: the data after the damage are found again.
  template <typename Check>
  void flip_each_byte_of_the_log(const Check& check) {
    flip_each_byte("log", 0, SIZE_MAX, [&](const std::optional<Found>& found) {
      ASSERT_TRUE(found.has_value());
      expect_whole_segments(*found);
      EXPECT_GE(events_in(*found) + 20, events_in(truth_));
      check(*found);
    });
  }
  void cut_the_log_at_each_byte() {
    cut_at_each_byte("log", 0, [this](const std::optional<Found>& found, std::size_t) {
      ASSERT_TRUE(found.has_value());
      expect_whole_segments(*found);
      EXPECT_GT(found->damage, 0u);
    });
  }

  // The events of every thread are whole segments of the events put, in order.
  void expect_whole_segments(const Found& found) {
    for (auto& pen : pens_) {
      const auto entry = found.events.find(index_of(pen));
      const Lines lines = entry == found.events.end() ? Lines{} : entry->second;
      std::size_t at = 0;
      for (const Lines& segment : pen->segments()) {
        const bool here =
            lines.size() - at >= segment.size() &&
            std::equal(segment.begin(), segment.end(), lines.begin() + static_cast<long>(at));
        if (here) at += segment.size();
      }
      EXPECT_EQ(at, lines.size()) << "thread " << index_of(pen) << " has wrong events";
    }
    EXPECT_LE(found.events.size(), pens_.size());
    EXPECT_TRUE(found.damage > 0 || found.events == truth_.events) << "events are missing silently";
  }
  // The events of every thread are a prefix of the events put.
  void expect_beginnings(const Found& found) {
    for (const auto& [location, lines] : found.events) {
      ASSERT_LT(location, pens_.size());
      const Lines& all = truth_.events.at(location);
      ASSERT_LE(lines.size(), all.size());
      EXPECT_TRUE(std::equal(lines.begin(), lines.end(), all.begin()));
    }
    EXPECT_TRUE(found.damage > 0 || found.events == truth_.events) << "events are missing silently";
  }
  void expect_true_definitions(const Found& found) {
    for (const std::string& line : found.definitions) {
      const auto& all = truth_.definitions;
      EXPECT_NE(std::find(all.begin(), all.end(), line), all.end()) << line;
    }
  }
  static std::uint64_t events_in(const Found& found) {
    std::uint64_t sum = 0;
    for (const auto& [location, lines] : found.events) sum += lines.size();
    return sum;
  }

  std::uint64_t time_ = 1000;
  std::vector<std::unique_ptr<Pen>> pens_;
  std::string victim_;
  Snapshot sound_;
  Found truth_;
};

}  // namespace timeloom::spool
