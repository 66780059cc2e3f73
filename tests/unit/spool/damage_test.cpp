// Spools damaged byte by byte. What is sound is read, what is not is counted;
// nothing is ever taken for something else.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "spool/format.hpp"
#include "spool_fixture.hpp"

namespace timeloom::spool {
namespace {

class DamageTest : public SpoolTest {
 protected:
  // Two threads, several segments each, one definition of every kind.
  void record() {
    Writer& writer = create(small(8));
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
  // Until `segments` segments are in the log and their places free.
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

  // The spool as it is now, to be damaged in a directory of its own.
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

  // Reads the damaged spool; nullopt when the reader said clearly that it cannot.
  std::optional<Found> read_victim() {
    try {
      return read_spool(victim_);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(victim_), std::string::npos) << error.what();
      return std::nullopt;
    }
  }

  template <typename Check>
  void flip_each_byte(const char* name, std::size_t begin, std::size_t end, const Check& check) {
    const int fd = ::open((victim_ + "/" + name).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    const std::string& bytes = sound_.files.at(name);
    end = std::min(end, bytes.size());
    for (std::size_t i = begin; i < end; ++i) {
      for (const unsigned mask : {0xffu, 1u << (i % 8), 1u}) {
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
      ASSERT_EQ(::truncate((victim_ + "/" + name).c_str(), static_cast<off_t>(size)), 0);
      SCOPED_TRACE(std::string(name) + " cut to " + std::to_string(size));
      check(read_victim(), size);
      if (HasFailure()) break;
    }
    test::write_bytes(victim_ + "/" + name, bytes);
  }

  // Every thread's events are whole segments of what it put, in order.
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
  // Every thread's events are the beginning of what it put.
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

class EndedSpool : public DamageTest {
 protected:
  void SetUp() override {
    record();
    for (auto& pen : pens_) pen->retire();
    writer_->close();
    take("ended");
    ASSERT_TRUE(truth_.ended);
    ASSERT_FALSE(sound_.files.contains("ring"));
  }
};

class KilledSpool : public DamageTest {
 protected:
  void SetUp() override {
    record();
    take("killed");
    ASSERT_FALSE(truth_.ended);
  }
  // The segments of the ring that hold something.
  std::vector<std::size_t> segments_in_use() const {
    std::vector<std::size_t> result;
    const std::string& ring = sound_.files.at("ring");
    for (std::size_t at = 65536; at < ring.size(); at += 4096) {
      if (ring[at + 4] == 1 || ring[at + 4] == 2) result.push_back(at);
    }
    return result;
  }
};

TEST_F(EndedSpool, AnyByteOfTheLogFlipped) {
  flip_each_byte("log", 0, SIZE_MAX, [this](const std::optional<Found>& found) {
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
    // One segment at most: what follows the damage is found again.
    EXPECT_GE(events_in(*found) + 20, events_in(truth_));
    EXPECT_EQ(found->definitions, truth_.definitions);
  });
}

TEST_F(EndedSpool, TheLogCutAnywhere) {
  cut_at_each_byte("log", 0, [this](const std::optional<Found>& found, std::size_t) {
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
    EXPECT_GT(found->damage, 0u);
  });
}

TEST_F(EndedSpool, AnyByteOfTheDefinitionsFlipped) {
  flip_each_byte("defs", 0, SIZE_MAX, [this](const std::optional<Found>& found) {
    if (!found) return;  // in the head: no time without it
    EXPECT_EQ(found->events, truth_.events);
    expect_true_definitions(*found);
    EXPECT_GT(found->damage, 0u);
    // Only the record that was hit is missing.
    EXPECT_GE(found->definitions.size() + 3, truth_.definitions.size());
  });
}

TEST_F(EndedSpool, TheDefinitionsCutAnywhere) {
  cut_at_each_byte("defs", 0, [this](const std::optional<Found>& found, std::size_t size) {
    EXPECT_EQ(found.has_value(), size >= sizeof(DefsHeader));
    if (!found) return;
    EXPECT_EQ(found->events, truth_.events);
    expect_true_definitions(*found);
    EXPECT_FALSE(found->ended);
  });
}

TEST_F(EndedSpool, RubbishBehindTheEndIsCounted) {
  for (const char* name : {"defs", "log"}) {
    test::write_bytes(victim_ + "/" + name, sound_.files.at(name) + std::string(300, 'x'));
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->events, truth_.events);
    EXPECT_EQ(found->definitions, truth_.definitions);
    EXPECT_GT(found->damage, 0u) << name;
    test::write_bytes(victim_ + "/" + name, sound_.files.at(name));
  }
}

TEST_F(EndedSpool, AHoleOfAnySizeCostsTheSegmentsItTouches) {
  const std::string& log = sound_.files.at("log");
  const std::size_t segment = log.size() / 6;
  for (std::size_t size = 1; size < 3 * segment; size += 37) {
    std::string damaged = log;
    std::fill_n(damaged.begin() + static_cast<long>(segment + 8), size, '\xee');
    test::write_bytes(victim_ + "/log", damaged);
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
    EXPECT_GE(events_in(*found), 20 * (6 - 2 - (size + segment) / segment)) << size;
  }
}

TEST_F(EndedSpool, AFileThatIsMissingIsCounted) {
  std::filesystem::remove(victim_ + "/log");
  const auto found = read_victim();
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->events.empty());
  EXPECT_GT(found->damage, 0u);
  std::filesystem::remove(victim_ + "/defs");
  EXPECT_THROW(Reader::open(victim_), Error);
}

TEST_F(EndedSpool, AnotherVersionIsRefusedByName) {
  std::string defs = sound_.files.at("defs");
  defs[8] = 2;
  const std::uint32_t check = checksum(reinterpret_cast<const std::byte*>(defs.data()), 12);
  std::memcpy(&defs[12], &check, sizeof check);
  test::write_bytes(victim_ + "/defs", defs);
  try {
    Reader::open(victim_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("spool format 2, this one reads 1"), std::string::npos)
        << error.what();
  }
}

TEST_F(KilledSpool, AnyByteOfTheLogFlipped) {
  flip_each_byte("log", 0, SIZE_MAX, [this](const std::optional<Found>& found) {
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
    EXPECT_GE(events_in(*found) + 20, events_in(truth_));
  });
}

// The segments in the ring follow those in the log, so a gap shows.
TEST_F(KilledSpool, TheLogCutAnywhere) {
  cut_at_each_byte("log", 0, [this](const std::optional<Found>& found, std::size_t) {
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
    EXPECT_GT(found->damage, 0u);
  });
}

TEST_F(KilledSpool, AnyByteOfAHeadInTheRingFlipped) {
  const auto check = [this](const std::optional<Found>& found) {
    ASSERT_TRUE(found.has_value());
    expect_whole_segments(*found);
  };
  flip_each_byte("ring", 0, 24, check);
  const std::vector<std::size_t> segments = segments_in_use();
  ASSERT_EQ(segments.size(), 2u);
  for (const std::size_t at : segments) {
    flip_each_byte("ring", at, at + sizeof(SegmentHeader), check);
  }
}

// Nothing protects the records that are being written; so a flip may change an
// event or end its segment. It never reaches what is in the log.
TEST_F(KilledSpool, AnyByteOfTheRecordsInTheRingFlipped) {
  for (const std::size_t at : segments_in_use()) {
    flip_each_byte(
        "ring", at + sizeof(SegmentHeader), at + 4096, [this](const std::optional<Found>& found) {
          ASSERT_TRUE(found.has_value());
          for (auto& pen : pens_) {
            const Lines& lines = found->events.at(index_of(pen));
            const Lines& all = truth_.events.at(index_of(pen));
            ASSERT_GE(lines.size(), 40u);
            ASSERT_LE(lines.size(), all.size() + 2);  // the words of a metric, taken for events
            EXPECT_TRUE(std::equal(all.begin(), all.begin() + 40, lines.begin()));
          }
        });
  }
}

TEST_F(KilledSpool, AnyByteOfAFreeSegmentFlipped) {
  const std::vector<std::size_t> used = segments_in_use();
  const std::size_t end = sound_.files.at("ring").size();
  for (std::size_t at = 65536; at < end; at += 4096) {
    if (std::find(used.begin(), used.end(), at) != used.end()) continue;
    flip_each_byte("ring", at, at + sizeof(SegmentHeader) + 16,
                   [this](const std::optional<Found>& found) {
                     ASSERT_TRUE(found.has_value());
                     EXPECT_EQ(found->events, truth_.events);
                   });
  }
}

TEST_F(KilledSpool, TheRingCutAnywhere) {
  cut_at_each_byte("ring", 65536 - 64, [this](const std::optional<Found>& found, std::size_t) {
    ASSERT_TRUE(found.has_value());
    expect_beginnings(*found);
  });
  for (const std::size_t size : {0, 1, 8, 31, 32, 33, 4096}) {
    test::write_bytes(victim_ + "/ring", sound_.files.at("ring").substr(0, size));
    const auto found = read_victim();
    ASSERT_TRUE(found.has_value());
    expect_beginnings(*found);
    EXPECT_GT(found->damage, 0u) << size;
  }
}

TEST_F(KilledSpool, TheDefinitionsCutAnywhere) {
  cut_at_each_byte("defs", sizeof(DefsHeader),
                   [this](const std::optional<Found>& found, std::size_t) {
                     ASSERT_TRUE(found.has_value());
                     EXPECT_EQ(found->events, truth_.events);
                     expect_true_definitions(*found);
                   });
}

// Killed between two steps of the drain.
TEST_F(KilledSpool, ASegmentInTheLogAndInTheRingIsReadOnce) {
  const std::string& log = sound_.files.at("log");
  std::string ring = sound_.files.at("ring");
  std::uint32_t size = 0;
  std::memcpy(&size, &log[12], sizeof size);
  std::size_t at = 65536;
  while (ring[at + 4] != 0) at += 4096;
  for (const char state : {'\x02', '\x03'}) {  // full, and drained but not emptied
    ring.replace(at, 64 + size, log, 0, 64 + size);
    ring[at + 4] = state;
    test::write_bytes(victim_ + "/ring", ring);
    Found found = *read_victim();
    EXPECT_EQ(found.events, truth_.events);
    EXPECT_EQ(found.damage, 0u);
    for (std::size_t i = 0; i < size / 8; ++i) {  // being emptied
      ring.replace(at + 64 + i * 8, 8, 8, '\0');
      test::write_bytes(victim_ + "/ring", ring);
      found = *read_victim();
      ASSERT_EQ(found.events, truth_.events);
      ASSERT_EQ(found.damage, 0u);
    }
  }
}

TEST_F(KilledSpool, AnAppendCutShortIsReadFromTheRing) {
  std::string log = sound_.files.at("log");
  std::string ring = sound_.files.at("ring");
  // Undo the last append: its segment goes back to the ring.
  std::size_t last = 0;
  for (std::size_t at = 0; at < log.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, &log[at + 12], sizeof size);
    last = at;
    at += 64 + size;
  }
  std::size_t at = 65536;
  while (ring[at + 4] != 0) at += 4096;
  ring.replace(at, log.size() - last, log, last, std::string::npos);
  ring[at + 4] = 2;
  test::write_bytes(victim_ + "/ring", ring);
  for (std::size_t size = last; size <= log.size(); ++size) {
    test::write_bytes(victim_ + "/log", log.substr(0, size));
    const Found found = *read_victim();
    ASSERT_EQ(found.events, truth_.events) << size;
    ASSERT_EQ(found.damage, 0u) << size;
  }
}

TEST_F(DamageTest, ADirectoryWithoutASpoolIsAnError) {
  EXPECT_THROW(Reader::open(directory_ / "none"), Error);
  std::filesystem::create_directory(path());
  EXPECT_THROW(Reader::open(path()), Error);
  test::write_bytes(path() + "/defs", "");
  EXPECT_THROW(Reader::open(path()), Error);
  test::write_bytes(path() + "/defs", "anything that is long enough for a head");
  EXPECT_THROW(Reader::open(path()), Error);
  std::filesystem::remove(path() + "/defs");
  std::filesystem::create_directory(path() + "/defs");
  EXPECT_THROW(Reader::open(path()), Error);
}

// Half of the space is there but never any record.
TEST_F(DamageTest, KilledWhileItsRingIsMade) {
  create();
  Snapshot young = Snapshot::of(path());
  victim_ = directory_ / "young";
  for (const std::string& ring : {std::string(), std::string(65536, '\0')}) {
    young.files["ring"] = ring;
    young.write_to(victim_);
    const Found found = *read_victim();
    EXPECT_TRUE(found.events.empty());
    EXPECT_EQ(found.damage, 0u);
  }
  young.files.erase("ring");
  std::filesystem::remove(victim_ + "/ring");
  EXPECT_EQ(read_victim()->damage, 0u);
}

}  // namespace
}  // namespace timeloom::spool
