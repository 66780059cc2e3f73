// Archives of other tools that are written again with their own definitions.

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "foreign_archive.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

const std::filesystem::path kTraces = TIMELOOM_TEST_DATA;

class OriginalArchiveTest : public ::testing::Test {
 protected:
  std::filesystem::path back() const { return directory_.path() / "traces.otf2"; }

  // Writes the known events into another archive, with the definitions of the first.
  void write_again(const std::filesystem::path& anchor) const {
    const auto source = open_to_pack(anchor);
    const auto sink = create(directory_.path());
    RunSink* const sinks[] = {sink.get()};
    source->replay(sinks, 2);
  }

  // The error of an archive with the events of one trace of Score-P and these files of another.
  std::string error_with(const std::string& anchor, const std::string& definitions) const {
    Definitions run = open(kTraces / "scorep-fib/traces.otf2")->definitions();
    run.original = std::make_shared<const OriginalFiles>(OriginalFiles{anchor, definitions});
    try {
      create(directory_.path())->begin(run);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  const TemporaryDirectory directory_;
};

TEST_F(OriginalArchiveTest, ScorePsComesBack) {
  for (const char* name : {"scorep-fib", "scorep-user-regions"}) {
    const TemporaryDirectory directory;
    const auto sink = create(directory.path());
    RunSink* const sinks[] = {sink.get()};
    open_to_pack(kTraces / name / "traces.otf2")->replay(sinks, 1);
    const auto written = directory.path() / "traces.otf2";
    EXPECT_EQ(different_records(kTraces / name / "traces.otf2", written),
              std::vector<std::string>());
    EXPECT_EQ(bytes_of(directory.path() / "traces.def"), bytes_of(kTraces / name / "traces.def"));
  }
}

TEST_F(OriginalArchiveTest, ReferencesWithGapsAndDriftingClocksComeBack) {
  const TemporaryDirectory other;
  write_known_archive(other.path());
  write_again(other.path() / "foreign.otf2");
  EXPECT_EQ(different_records(other.path() / "foreign.otf2", back()), std::vector<std::string>());
}

TEST_F(OriginalArchiveTest, KindsOfRecordsThatAreMissingAreNamed) {
  const TemporaryDirectory other;
  write_foreign_archive(other.path());
  write_again(other.path() / "foreign.otf2");
  // As many enters are missing as the library makes of calling contexts.
  const std::vector<std::string> kinds = {
      "BufferFlush",        "Leave", "MpiSend", "Metric", "ThreadFork", "CallingContextEnter",
      "CallingContextLeave"};
  EXPECT_EQ(different_records(other.path() / "foreign.otf2", back()), kinds);
}

TEST_F(OriginalArchiveTest, RecordsWithOtherContentsAreNamed) {
  const std::filesystem::path fib = kTraces / "scorep-fib";
  write_again(fib / "traces.otf2");
  std::string events = bytes_of(directory_.path() / "traces" / "0.evt");
  const std::size_t enter = events.find("\x0c\x01\x05");  // of region 5, which takes 1 byte
  ASSERT_NE(enter, std::string::npos);
  events[enter + 2] = '\x04';
  put_bytes(directory_.path() / "traces" / "0.evt", events);
  EXPECT_EQ(different_records(fib / "traces.otf2", back()), std::vector<std::string>{"Enter"});
}

TEST_F(OriginalArchiveTest, DefinitionsOfAnotherArchiveAreRefused) {
  const std::filesystem::path other = kTraces / "scorep-user-regions";
  const std::string anchor = bytes_of(other / "traces.otf2");
  const std::string definitions = bytes_of(other / "traces.def");
  EXPECT_NE(error_with(anchor, definitions).find("[TL174]"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(OriginalArchiveTest, DamagedDefinitionsAreRefused) {
  const std::string anchor = bytes_of(kTraces / "scorep-fib/traces.otf2");
  const std::string definitions = bytes_of(kTraces / "scorep-fib/traces.def");
  EXPECT_EQ(error_with("", definitions).find("none"), std::string::npos);
  for (std::size_t part = 0; part < 16; ++part) {
    const std::size_t size = definitions.size() * part / 16;
    EXPECT_NE(error_with(anchor, definitions.substr(0, size)), "none") << size;
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << size;
  }
  for (std::size_t size = 0; size < anchor.size(); size += 8) {
    EXPECT_NE(error_with(anchor.substr(0, size), definitions), "none") << size;
  }
}

}  // namespace

}  // namespace timeloom::otf2
