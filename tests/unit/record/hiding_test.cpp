// Functions that are not recorded because they run inside others that hide them.
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class HidingTest : public RecordTest {
 protected:
  void begin_limited(std::size_t max_depth) {
    StartOptions options;
    options.spool_directory = path();
    options.process.name = "test";
    options.max_depth = max_depth;
    start(options);
    for (int i = 0; i < 4; ++i) codes_[i] = region(std::string(1, static_cast<char>('f' + i)));
  }

  static Token token(int code) { return static_cast<Token>(code + 1) * 64; }
  void call(int code) { t_recorder->enter(token(code), codes_[code]); }
  static void hide(int code) { t_recorder->enter_hiding(token(code)); }
  static bool end_of(int code) { return t_recorder->leave(token(code)); }
  Lines lines() { return end().threads[0]; }

  EventWord codes_[4]{};
};

TEST_F(HidingTest, CallsInsideAreNotRecordedUntilItIsLeft) {
  begin_limited(0);
  call(0);
  hide(1);
  call(2);
  call(3);
  EXPECT_TRUE(end_of(3));
  EXPECT_TRUE(end_of(2));
  EXPECT_TRUE(end_of(1));
  call(2);
  call(3);
  EXPECT_TRUE(end_of(3));
  EXPECT_TRUE(end_of(2));
  EXPECT_TRUE(end_of(0));
  EXPECT_EQ(lines(), (Lines{"enter f", "enter h", "enter i", "leave i", "leave h", "leave f"}));
}

TEST_F(HidingTest, UserRegionsInsideAreRecorded) {
  begin_limited(0);
  const EventWord mine = region("mine");
  call(0);
  hide(1);
  enter(mine);
  call(2);
  EXPECT_TRUE(end_of(2));
  EXPECT_TRUE(leave(mine));
  EXPECT_TRUE(end_of(1));
  EXPECT_TRUE(end_of(0));
  EXPECT_EQ(lines(), (Lines{"enter f", "enter mine", "leave mine", "leave f"}));
}

TEST_F(HidingTest, ItMayBeEnteredInsideItself) {
  begin_limited(0);
  hide(1);
  hide(1);
  EXPECT_TRUE(end_of(1));
  call(0);
  EXPECT_TRUE(end_of(0));
  EXPECT_TRUE(end_of(1));
  call(0);
  EXPECT_TRUE(end_of(0));
  EXPECT_EQ(lines(), (Lines{"enter f", "leave f"}));
}

TEST_F(HidingTest, AnOuterLeaveEndsIt) {
  begin_limited(0);
  call(0);
  hide(1);
  call(2);
  EXPECT_TRUE(end_of(0));  // the passing of an exception was not noticed
  call(2);
  call(3);
  EXPECT_TRUE(end_of(2));
  EXPECT_EQ(lines(), (Lines{"enter f", "leave f", "enter h", "enter i", "leave i", "leave h"}));
}

TEST_F(HidingTest, ADepthLimitStays) {
  begin_limited(2);
  hide(1);
  call(0);
  EXPECT_TRUE(end_of(0));
  EXPECT_TRUE(end_of(1));
  call(0);
  call(2);
  call(3);
  EXPECT_TRUE(end_of(3));
  EXPECT_TRUE(end_of(2));
  EXPECT_TRUE(end_of(0));
  EXPECT_EQ(lines(), (Lines{"enter f", "enter h", "leave h", "leave f"}));
}

TEST_F(HidingTest, ABlockEndsInAnyOrder) {
  constexpr Token kBlock = Token{1} << 41 | 2;
  begin_limited(0);
  call(0);
  t_recorder->enter_hiding(kBlock);
  t_recorder->enter_hiding(kBlock);
  call(2);  // goes on
  t_recorder->leave_hiding(kBlock);
  call(3);
  EXPECT_TRUE(end_of(3));
  t_recorder->leave_hiding(kBlock);
  call(3);
  EXPECT_TRUE(end_of(3));
  EXPECT_TRUE(end_of(2));
  EXPECT_TRUE(end_of(0));
  t_recorder->leave_hiding(kBlock);  // of nothing
  EXPECT_EQ(lines(), (Lines{"enter f", "enter i", "leave i", "leave f"}));
}

TEST_F(HidingTest, AWholeThreadIsHiddenUntilThatIsUndone) {
  begin_limited(0);
  call(0);
  t_recorder->hide_functions(true);
  call(2);
  EXPECT_TRUE(end_of(2));
  EXPECT_TRUE(end_of(0));
  call(2);
  EXPECT_TRUE(end_of(2));
  t_recorder->hide_functions(false);
  call(3);
  EXPECT_TRUE(end_of(3));
  EXPECT_EQ(lines(), (Lines{"enter f", "leave f", "enter i", "leave i"}));
}

TEST_F(HidingTest, TheNextMeasurementHidesNothing) {
  begin_limited(0);
  t_recorder->hide_functions(true);
  EXPECT_EQ(lines(), Lines{});
  next_spool();
  begin_limited(0);
  call(0);
  EXPECT_TRUE(end_of(0));
  EXPECT_EQ(lines(), (Lines{"enter f", "leave f"}));
}

}  // namespace
}  // namespace timeloom::record
