// A full disk: recording stops, the lost events are counted, and the program goes on.
#include <cerrno>

#include "../support/child.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class FullDiskTest : public RecordTest {
 protected:
  // Runs the victim and returns its exit status; its counters are then in counters_.
  int run(const char* mode, const std::string& where, std::uint64_t bytes) {
    counters_path_ = where + "-counters";
    test::Child child({TIMELOOM_RECORD_VICTIM, mode, where, counters_path_, std::to_string(bytes)});
    return child.wait();
  }
  void expect_exact_loss(int error) {
    const test::SharedCounters counters(counters_path_);
    const std::uint64_t put = counters[0], lost = counters[1], read = counters[2];
    EXPECT_EQ(put, 100'000u);
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(read + lost, put);
    EXPECT_EQ(counters[3], lost);  // as the spool reports
    EXPECT_EQ(counters[4], static_cast<std::uint64_t>(error));
    EXPECT_EQ(counters[5], 0u);
    EXPECT_EQ(counters[6], read);
  }
  std::string counters_path_;
};

// Every size is reached at another place: in the log's head, its records, between segments.
TEST_F(FullDiskTest, AtTheLimitOfFileSizes) {
  for (std::uint64_t bytes = 65536 + 16 * 4096; bytes < 65536 + 18 * 4096; bytes += 1000) {
    SCOPED_TRACE(bytes);
    next_spool();
    ASSERT_EQ(run("limit", path(), bytes), 0);
    expect_exact_loss(EFBIG);
  }
}

TEST_F(FullDiskTest, OnADiskThatIsReallyFull) {
  for (const std::uint64_t pages : {40, 41, 60}) {
    SCOPED_TRACE(pages);
    next_spool();
    std::filesystem::create_directory(path());
    const int status = run("tmpfs", path(), pages * 4096);
    if (status == 77) GTEST_SKIP() << "no right to mount a small disk here";
    ASSERT_EQ(status, 0);
    expect_exact_loss(ENOSPC);
  }
}

TEST_F(FullDiskTest, WithoutSpaceForTheRingTheProgramIsToldAtOnce) {
  EXPECT_EQ(run("limit", path(), 70000), 3);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace timeloom::record
