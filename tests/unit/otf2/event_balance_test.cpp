// The properties that sinks rely on, for any archive.

#include <gtest/gtest.h>

#include "formats/otf2/read/event_balance.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

struct Mended {
  std::vector<std::string> events;
  Repairs repairs;
};

Mended mend(const std::vector<Event>& events) {
  std::vector<Event> batch;
  Mended mended;
  EventBalance balance(batch, mended.repairs);
  for (const Event& one : events) balance.add(one);
  balance.close_all();
  mended.events = describe(batch);
  return mended;
}

using enum EventKind;
using Lines = std::vector<std::string>;

TEST(EventBalance, LeavesSoundEventsAlone) {
  const Mended mended = mend({event(1, kEnter, 5), event(2, kEnter, 6), event(2, kLeave, 6),
                              event(9, kLeave, 5), event(9, kProgramEnd)});
  EXPECT_EQ(mended.events, (Lines{"1 enter 5", "2 enter 6", "2 leave 6", "9 leave 5", "9 end 0"}));
  EXPECT_EQ(mended.repairs.closed_regions, 0u);
  EXPECT_EQ(mended.repairs.dropped_leaves, 0u);
  EXPECT_EQ(mended.repairs.moved_events, 0u);
}

TEST(EventBalance, ClosesAtTheEndWhatIsOpen) {
  const Mended mended = mend({event(1, kEnter, 5), event(2, kEnter, 6), event(7, kMetric, 0, 1)});
  EXPECT_EQ(mended.events,
            (Lines{"1 enter 5", "2 enter 6", "7 metric 0 1", "7 leave 6", "7 leave 5"}));
  EXPECT_EQ(mended.repairs.closed_regions, 2u);
}

TEST(EventBalance, ClosesBeforeTheProgramEnds) {
  const Mended mended = mend({event(1, kEnter, 5), event(7, kProgramEnd)});
  EXPECT_EQ(mended.events, (Lines{"1 enter 5", "7 leave 5", "7 end 0"}));
  EXPECT_EQ(mended.repairs.closed_regions, 1u);
}

TEST(EventBalance, ClosesWhatLostItsLeave) {
  const Mended mended =
      mend({event(1, kEnter, 5), event(2, kEnter, 6), event(3, kEnter, 7), event(4, kLeave, 5)});
  EXPECT_EQ(mended.events,
            (Lines{"1 enter 5", "2 enter 6", "3 enter 7", "4 leave 7", "4 leave 6", "4 leave 5"}));
  EXPECT_EQ(mended.repairs.closed_regions, 2u);
}

TEST(EventBalance, DropsLeavesOfWhatIsNotOpen) {
  const Mended mended = mend({event(1, kLeave, 5), event(2, kEnter, 6), event(3, kLeave, 5),
                              event(4, kLeave, 6), event(5, kLeave, 6)});
  EXPECT_EQ(mended.events, (Lines{"2 enter 6", "4 leave 6"}));
  EXPECT_EQ(mended.repairs.dropped_leaves, 3u);
}

TEST(EventBalance, TimeDoesNotGoBack) {
  const Mended mended =
      mend({event(5, kEnter, 1), event(3, kEnter, 2), event(4, kLeave, 2), event(6, kLeave, 1)});
  EXPECT_EQ(mended.events, (Lines{"5 enter 1", "5 enter 2", "5 leave 2", "6 leave 1"}));
  EXPECT_EQ(mended.repairs.moved_events, 2u);
}

}  // namespace

}  // namespace timeloom::otf2
