// The C interface: its records, and that threads may use it at any time.
#include <atomic>
#include <chrono>
#include <thread>

#include "../support/thorough.hpp"
#include "record_fixture.hpp"
#include "timeloom/timeloom.h"

namespace timeloom::record {
namespace {

class CInterfaceTest : public RecordTest {};

TEST_F(CInterfaceTest, RegionsAreValidInEveryMeasurement) {
  static timeloom_region region = TIMELOOM_REGION("region");
  timeloom_region* const named = timeloom_region_define("named", nullptr, 0);
  EXPECT_EQ(named, timeloom_region_define("named", nullptr, 0));
  for (int i = 0; i < 3; ++i) {
    timeloom_enter(&region);
    timeloom_leave(&region);
    begin();
    if (i == 1) this->region("another");
    timeloom_enter(named);
    timeloom_enter(&region);
    timeloom_leave(&region);
    timeloom_leave(named);
    const Lines expected = {"enter named", "enter region", "leave region", "leave named"};
    EXPECT_EQ(end().threads[0], expected);
    next_spool();
  }
}

TEST_F(CInterfaceTest, LeavesOfWhatIsNotOpenAreCounted) {
  static timeloom_region region = TIMELOOM_REGION("region");
  begin();
  timeloom_leave(&region);
  timeloom_region_end("other");
  timeloom_enter(&region);
  const Lines expected = {"enter region", "leave region"};
  EXPECT_EQ(end().threads[0], expected);
  EXPECT_EQ(totals_.unmatched_leaves, 2u);
}

TEST_F(CInterfaceTest, RecordsNothingWhereTheThreadIsKeptOff) {
  begin();
  {
    const KeepOff nothing_of_this;
    timeloom_region_begin("kept off");
    timeloom_parameter_int("n", 1);
    timeloom_region_end("kept off");
  }
  EXPECT_TRUE(end().threads[0].empty());
}

TEST_F(CInterfaceTest, NativeCodeSwitchesTheRecording) {
  begin();
  timeloom_region_begin("a");
  timeloom_disable_recording();
  timeloom_region_begin("unseen");
  timeloom_parameter_int("n", 1);
  timeloom_region_end("unseen");
  EXPECT_EQ(timeloom_is_recording(), 0);
  EXPECT_EQ(timeloom_is_active(), 1);
  timeloom_enable_recording();
  timeloom_region_end("a");
  const Lines expected = {"enter a", "off", "on", "leave a"};
  EXPECT_EQ(end().threads[0], expected);
}

// Threads keep recording while measurements start, pause and end.
TEST_F(CInterfaceTest, MeasurementsBeginAndEndWhileThreadsRecord) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&done] {
      static timeloom_region outer = TIMELOOM_REGION("outer");
      static timeloom_region inner = TIMELOOM_REGION("inner");
      while (!done) {
        timeloom_enter(&outer);
        timeloom_enter(&inner);
        timeloom_counter_int("counter", 1, "");
        timeloom_leave(&inner);
        timeloom_leave(&outer);
      }
    });
  }
  for (int round = 0; round < test::rounds(6, 20); ++round) {
    begin(small());
    for (int i = 0; i < 5; ++i) {
      set_recording(false);
      (void)totals();
      set_recording(true);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const Recorded recorded = end();
    EXPECT_EQ(recorded.damage, 0u);
    for (const auto& [location, lines] : recorded.threads) {
      std::size_t open = 0;
      for (const std::string& line : lines) {
        if (line.starts_with("enter")) ++open;
        if (!line.starts_with("leave")) continue;
        ASSERT_GT(open, 0u);
        --open;
      }
      EXPECT_EQ(open, 0u);
    }
    next_spool();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace timeloom::record
