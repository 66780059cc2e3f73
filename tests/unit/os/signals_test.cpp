#include "os/signals.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace timeloom::os {
namespace {

void note_nothing(int) {}

// What a thread does that has begun with the handler before another one has put it back.
void end_by_late_handler() {
  watch_fatal_signals(note_nothing);
  struct sigaction watched {};
  if (::sigaction(SIGTERM, nullptr, &watched) != 0) return;
  unwatch_fatal_signals();
  watched.sa_sigaction(SIGTERM, nullptr, nullptr);
}

TEST(SignalsDeathTest, AHandlerThatIsLateEndsTheProcessByItsSignal) {
  EXPECT_EXIT(end_by_late_handler(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace timeloom::os
