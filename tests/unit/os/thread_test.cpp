#include "os/thread.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace timeloom::os {
namespace {

TEST(HelperThread, RunsUnderItsNameAndIsJoined) {
  HelperThread thread;
  std::string name;
  std::uint64_t id = 0;
  ASSERT_EQ(thread.start("timeloom-test",
                         [&] {
                           char buffer[16] = "";
                           pthread_getname_np(pthread_self(), buffer, sizeof buffer);
                           name = buffer;
                           id = thread_id();
                         }),
            0);
  EXPECT_TRUE(thread.running());
  thread.join();
  EXPECT_FALSE(thread.running());
  EXPECT_EQ(name, "timeloom-test");
  EXPECT_NE(id, thread_id());
}

TEST(HelperThread, TakesNoSignalOfTheProgram) {
  HelperThread thread;
  sigset_t mask;
  sigemptyset(&mask);
  ASSERT_EQ(thread.start("timeloom-test", [&] { pthread_sigmask(SIG_BLOCK, nullptr, &mask); }), 0);
  thread.join();
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGPROF, SIGUSR1, SIGCHLD, SIGXFSZ}) {
    EXPECT_EQ(sigismember(&mask, signal), 1) << strsignal(signal);
  }
}

TEST(HelperThread, LeavesTheMaskOfItsCreatorAlone) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  HelperThread thread;
  ASSERT_EQ(thread.start("timeloom-test", [] {}), 0);
  thread.join();
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

int g_forks = 0;

TEST(AtFork, CallsTheChildOnly) {
  at_fork_in_child([] { ++g_forks; });
  const pid_t child = ::fork();
  if (child == 0) ::_exit(g_forks);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(g_forks, 0);
}

TEST(Ids, AreTheKernels) {
  EXPECT_EQ(process_id(), static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(thread_id(), process_id());
}

}  // namespace
}  // namespace timeloom::os
