// The bytes that calls transfer: exact in all threads, in each measurement of a process.
#include <barrier>
#include <bit>
#include <thread>

#include "core/io.hpp"
#include "record_fixture.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {
namespace {

constexpr int kThreads = 8;
constexpr std::uint64_t kCallsOfBytes = 500;

class BytesTest : public RecordTest {
 protected:
  void begin_profile() {
    StartOptions options;
    options.spool_directory = path();
    options.profile = true;
    start(options);
  }

  // One call that sends 3 bytes, receives 5, takes part in a collective operation with 7 and 11,
  // reads 13, writes 17, and puts 19 and gets 23.
  static void move_all() {
    ThreadRecorder& recorder = *t_recorder;
    const auto put = [&](ExtendedKind kind, std::initializer_list<std::uint64_t> words) {
      recorder.extended(kind, {words.begin(), words.size()});
    };
    put(ExtendedKind::kMpiSend, {0, 0, 3});
    put(ExtendedKind::kMpiRecv, {0, 0, 5});
    put(ExtendedKind::kMpiCollectiveEnd, {0, 0, 7, 11});
    put(ExtendedKind::kIoComplete,
        {io_word(0, static_cast<std::uint32_t>(IoOperation::kRead)), 13});
    put(ExtendedKind::kIoComplete,
        {io_word(0, static_cast<std::uint32_t>(IoOperation::kWrite)), 17});
    recorder.transferred(BytesOf::kPut, 19, os::now());
    recorder.transferred(BytesOf::kGot, 23, os::now());
  }

  // "bytes_sent 12000": the sums over all threads, sorted by name.
  Lines sums() const {
    const auto names = spool::Reader::open(path())->definitions().metrics;
    std::map<std::string, std::uint64_t> sums;
    for (const spool::ProfileData& profile : spool::read_profiles(path()).profiles) {
      for (const spool::ProfileNode& place : profile.places) {
        if (place.kind != spool::PlaceKind::kMetric) continue;
        const auto value = std::bit_cast<spool::ProfileMetric>(place);
        sums[names.at(value.metric).name] += static_cast<std::uint64_t>(value.sum);
      }
    }
    Lines lines;
    for (const auto& [name, sum] : sums) lines.push_back(name + " " + std::to_string(sum));
    return lines;
  }

  static Lines expected(std::uint64_t calls) {
    const auto line = [calls](const char* name, std::uint64_t bytes) {
      return std::string(name) + " " + std::to_string(calls * bytes);
    };
    return {line("bytes_get", 23),  line("bytes_put", 19),     line("bytes_received", 16),
            line("bytes_sent", 10), line("io_bytes_read", 13), line("io_bytes_written", 17)};
  }
};

// All threads use each metric for the first time at the same moment.
TEST_F(BytesTest, AreExactInSeveralThreads) {
  begin_profile();
  const EventWord f = region("f");
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      together.arrive_and_wait();
      for (std::uint64_t call = 0; call < kCallsOfBytes; ++call) {
        enter(f);
        move_all();
        leave(f);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  totals_ = stop();
  EXPECT_EQ(sums(), expected(kThreads * kCallsOfBytes));
}

// State of a metric in one measurement does not affect the next one.
TEST_F(BytesTest, EachMeasurementDefinesItsMetrics) {
  for (std::uint64_t calls = 1; calls <= 3; ++calls) {
    begin_profile();
    const EventWord f = region("f");
    enter(f);
    for (std::uint64_t call = 0; call < calls; ++call) move_all();
    leave(f);
    totals_ = stop();
    EXPECT_EQ(sums(), expected(calls));
    next_spool();
  }
}

TEST_F(BytesTest, OfOneSidedCommunicationAreMetricsOfATrace) {
  begin();
  const EventWord f = region("f");
  enter(f);
  t_recorder->transferred(BytesOf::kPut, 40, os::now());
  t_recorder->transferred(BytesOf::kGot, 0, os::now());  // none
  t_recorder->transferred(BytesOf::kGot, 8, os::now());
  leave(f);
  EXPECT_EQ(end().threads.at(0),
            (Lines{"enter f", "metric bytes_put 40", "metric bytes_get 8", "leave f"}));
}

}  // namespace
}  // namespace timeloom::record
