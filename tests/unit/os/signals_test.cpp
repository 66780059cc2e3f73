#include "os/signals.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <cerrno>
#include <thread>
#include <vector>

namespace timeloom::os {
namespace {

void note_nothing(int) {}

// A thread that started with the handler before another one restored the previous handler.
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

// True if the kernel can read the byte.
bool readable(const std::byte* byte) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return true;
  const bool read = ::write(ends[1], byte, 1) == 1 || errno != EFAULT;
  for (const int end : ends) ::close(end);
  return read;
}

// Stacks of several threads are adjacent, so memory below one of them is not unused by chance.
TEST(SignalStack, HasAGuardBelow) {
  constexpr int kThreads = 8;
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&all] {
      const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
      stack_t of_sanitizer{};
      ::sigaltstack(&none, &of_sanitizer);
      const auto stack = give_signal_stack();
      all.arrive_and_wait();
      ASSERT_FALSE(stack.empty());
      EXPECT_TRUE(readable(stack.data()));
      EXPECT_TRUE(readable(&stack.back()));
      EXPECT_FALSE(readable(stack.data() - 1));
      all.arrive_and_wait();
      ::sigaltstack(&of_sanitizer, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace timeloom::os
