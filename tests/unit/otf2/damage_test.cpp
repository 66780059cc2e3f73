// Damaged and truncated files give an Error of one line or the sound part, never a crash. Every
// file of a small archive is cut at every byte, and every byte of it is changed in several ways, in
// child processes.

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include <cstdio>
#include <functional>

#include "../support/thorough.hpp"
#include "core/error.hpp"
#include "foreign_archive.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

// The sanitizers make allocations expensive; a sample must suffice with them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const std::size_t kStride = 11;
#else
// Four has no divisor in common with the number of changes of a byte.
const std::size_t kStride = test::rounds<std::size_t>(4, 1);
#endif

// Throws std::logic_error when the reader breaks its contract with sinks.
class CheckingSink : public RunSink {
 public:
  void begin(const Definitions& definitions) override {
    definitions_ = &definitions;
    for (const Location& location : definitions.locations) {
      require(location.group.value() < definitions.groups.size(), "group of a location");
    }
  }
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<Checker>(*definitions_);
  }
  void finish() override {}

 private:
  static void require(bool sound, const char* what) {
    if (!sound) throw std::logic_error(what);
  }

  struct Checker : LocationSink {
    explicit Checker(const Definitions& definitions) : all(definitions) {}
    void consume(std::span<const Event> events) override {
      for (const Event& one : events) check(one);
    }
    void check(const Event& one) {
      require(one.time >= last, "order of time");
      last = one.time;
      switch (one.kind) {
        case EventKind::kEnter:
          require(one.ref < all.regions.size(), "region");
          open.push_back(one.ref);
          break;
        case EventKind::kLeave:
          require(!open.empty() && open.back() == one.ref, "balance");
          open.pop_back();
          break;
        case EventKind::kParameterString:
          require(one.value < all.strings.size(), "string");
          [[fallthrough]];
        case EventKind::kParameterInt:
        case EventKind::kParameterUint:
          require(one.ref < all.parameters.size(), "parameter");
          break;
        case EventKind::kMetric: require(one.ref < all.metrics.size(), "metric"); break;
        case EventKind::kProgramBegin: require(one.ref < all.groups.size(), "group"); break;
        default: break;
      }
    }
    void finish() override { require(open.empty(), "balance at the end"); }
    const Definitions& all;
    Timestamp last{};
    std::vector<std::uint32_t> open;
  };
  const Definitions* definitions_ = nullptr;
};

enum class Outcome { kRead, kError, kBroken };

Outcome try_reading(const std::filesystem::path& anchor) {
  try {
    const auto source = open(anchor);
    CheckingSink sink;
    RunSink* const sinks[] = {&sink};
    source->replay(sinks, 1);
    return Outcome::kRead;
  } catch (const Error& error) {
    const std::string line = error.what();
    return line.empty() || line.find('\n') != std::string::npos ? Outcome::kBroken
                                                                : Outcome::kError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return Outcome::kBroken;
  }
}

// Runs `one(0)`, `one(1)`, … in a child, and reports those that ended it or returned false.
void in_child(std::size_t count, const std::function<bool(std::size_t)>& one) {
  auto* at = static_cast<volatile std::size_t*>(::mmap(
      nullptr, sizeof(std::size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(at, MAP_FAILED);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (std::size_t i = 0; i < count; i += kStride) {
      *at = i;
      ::alarm(60);  // for one change: no infinite loops
      if (!one(i)) ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "change " << *at << " of " << count;
  ::munmap(const_cast<std::size_t*>(at), sizeof(std::size_t));
}

struct DamagedArchive {
  const char* name;
  void (*write)(const std::filesystem::path&);
  const char* anchor;
  const char* file;     // to be damaged
  bool whole_or_error;  // no part of the file can be read alone
};

void write_sample(const std::filesystem::path& directory) { write(sample_run(), directory); }

class Damage : public ::testing::TestWithParam<DamagedArchive> {
 protected:
  void SetUp() override {
    GetParam().write(directory_.path());
    bytes_ = bytes_of(file());
    ASSERT_FALSE(bytes_.empty());
    ASSERT_EQ(try_reading(anchor()), Outcome::kRead);
  }
  std::filesystem::path anchor() const { return directory_.path() / GetParam().anchor; }
  std::filesystem::path file() const { return directory_.path() / GetParam().file; }

  const TemporaryDirectory directory_;
  std::string bytes_;
};

TEST_P(Damage, CutAtEveryByte) {
  in_child(bytes_.size(), [&](std::size_t length) {
    put_bytes(file(), bytes_.substr(0, length));
    const Outcome outcome = try_reading(anchor());
    // The last byte only repeats the end of the file.
    const bool error_wanted = GetParam().whole_or_error && length + 2 < bytes_.size();
    return outcome == Outcome::kError || (outcome == Outcome::kRead && !error_wanted);
  });
}

TEST_P(Damage, EveryByteChanged) {
  constexpr std::uint8_t kChanges[] = {0x01, 0x80, 0xff};
  in_child(bytes_.size() * std::size(kChanges), [&](std::size_t i) {
    std::string changed = bytes_;
    char& byte = changed[i / std::size(kChanges)];
    byte = static_cast<char>(byte ^ static_cast<char>(kChanges[i % std::size(kChanges)]));
    put_bytes(file(), changed);
    return try_reading(anchor()) != Outcome::kBroken;
  });
}

INSTANTIATE_TEST_SUITE_P(
    EveryFile, Damage,
    ::testing::Values(
        DamagedArchive{"anchor", write_sample, "traces.otf2", "traces.otf2", true},
        DamagedArchive{"global_definitions", write_sample, "traces.otf2", "traces.def", true},
        DamagedArchive{"local_definitions", write_sample, "traces.otf2", "traces/0.def", true},
        DamagedArchive{"mapping_tables", write_foreign_archive, "foreign.otf2", "foreign/1.def",
                       true},
        DamagedArchive{"events", write_sample, "traces.otf2", "traces/0.evt", false},
        DamagedArchive{"foreign_events", write_foreign_archive, "foreign.otf2", "foreign/0.evt",
                       false},
        DamagedArchive{"foreign_definitions", write_foreign_archive, "foreign.otf2", "foreign.def",
                       true},
        DamagedArchive{"markers", write_sample, "traces.otf2", "traces.marker", false}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(TruncatedEvents, TheSoundPartIsRead) {
  const TemporaryDirectory directory;
  const Story written = sample_run();
  write(written, directory.path());
  const std::filesystem::path file = directory.path() / "traces" / "0.evt";
  const std::string bytes = bytes_of(file);
  const std::vector<std::string> all = describe(written.events.at(LocationId{0}));
  std::size_t most = 0;
  for (std::size_t length = 0; length + 2 <= bytes.size(); ++length) {
    put_bytes(file, bytes.substr(0, length));
    const Story found = read(directory.path() / "traces.otf2");
    std::vector<std::string> events = describe(found.events.at(LocationId{0}));
    std::size_t same = 0;
    while (same < events.size() && events[same] == all[same]) ++same;
    // Only leaves of open regions follow the common part.
    for (std::size_t i = same; i < events.size(); ++i) {
      EXPECT_NE(events[i].find(" leave "), std::string::npos) << events[i] << " at " << length;
    }
    EXPECT_GE(same, most) << length;
    most = same;
    EXPECT_EQ(found.definitions.properties.at("timeloom::otf2_damaged_files"), "1");
    EXPECT_EQ(found.events.at(LocationId{1}).size(), 2u);  // other locations are not affected
  }
  EXPECT_EQ(most, all.size());
}

// Behind the end of a truncated chunk the library would read an older one.
TEST(TruncatedEvents, OldChunksAreNotReadAgain) {
  const TemporaryDirectory directory;
  Story run = sample_run();
  std::vector<Event>& events = run.events[LocationId{0}];
  events.clear();
  for (std::uint64_t i = 0; i < 1'200'000; ++i) {
    events.push_back(event(1000 + i, i % 2 == 0 ? EventKind::kEnter : EventKind::kLeave, 1));
  }
  write(run, directory.path());
  const std::filesystem::path file = directory.path() / "traces" / "0.evt";
  for (const std::uintmax_t length :
       {(12u << 20) + 5000u, 12u << 20, (8u << 20) - 1u, 4u << 20, 1u << 20}) {
    std::filesystem::resize_file(file, length);
    const Story found = read(directory.path() / "traces.otf2");
    const std::vector<Event>& kept = found.events.at(LocationId{0});
    EXPECT_LE(kept.size(), length / 12);
    EXPECT_GE(kept.size() + 100, length / 12);
    const std::uint64_t missing =
        std::stoull(found.definitions.properties.at("timeloom::otf2_missing_events"));
    EXPECT_LE(kept.size() - 1, events.size() - missing);  // one leave may be added
    EXPECT_LE(ticks(kept.back().time), 1000 + kept.size());
  }
}

TEST(NoArchive, IsSaid) {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& name, const std::string& bytes) {
    put_bytes(directory.path() / name, bytes);
    try {
      open(directory.path() / name);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string path = (directory.path() / "a.otf2").string();
  EXPECT_EQ(message("a.otf2", "hello, world"),
            path + " is not an OTF2 anchor file; give the .otf2 file of a trace [TL319]");
  EXPECT_EQ(message("a.otf2", ""),
            path + " is not an OTF2 anchor file; give the .otf2 file of a trace [TL319]");
  std::filesystem::remove(path);
  EXPECT_THROW(
      try { open(path); } catch (const Error& error) {
        EXPECT_EQ(error.what(), "cannot read " + path + ": No such file or directory [TL301]");
        throw;
      },
      Error);
  EXPECT_THROW(open(directory.path()), Error);
}

}  // namespace

}  // namespace timeloom::otf2
