// Threads that another thread adds to the measurement, and the listener on whose thread one ends.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "os/thread.hpp"
#include "record/listener.hpp"
#include "record/native/wrapper_interface.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

class BroughtTest : public RecordTest {
 protected:
  // Runs `work` on a thread that has been added with `open` entered.
  template <typename Work>
  void bring(const std::vector<EventWord>& open, Work work) {
    std::latch ready(1), brought(1);
    OtherThread other{0, 0, "other"};
    std::thread thread([&] {
      other.thread = static_cast<std::uintptr_t>(pthread_self());
      other.id = os::thread_id();
      ready.count_down();
      brought.wait();
      work();
    });
    ready.wait();
    ThreadRecorder* recorder = bring_in(other);
    ASSERT_NE(recorder, nullptr);
    EXPECT_EQ(bring_in(other), nullptr);
    for (const EventWord word : open) recorder->enter(user_token(word), word);
    brought.count_down();
    thread.join();
  }
};

TEST_F(BroughtTest, TheThreadGoesOnWithItsRecorder) {
  begin();
  const EventWord outer = region("outer"), inner = region("inner");
  bring({outer}, [&] {
    enter(inner);
    EXPECT_TRUE(leave(inner));
    EXPECT_TRUE(leave(outer));
    EXPECT_FALSE(leave(outer));
  });
  const Recorded recorded = end();
  EXPECT_EQ(recorded.threads.at(1),
            (Lines{"enter outer", "enter inner", "leave inner", "leave outer"}));
  EXPECT_EQ(totals_.threads, 2u);
  EXPECT_EQ(totals_.events, 4u);
}

TEST_F(BroughtTest, ItsFirstEventMayBeALeave) {
  begin();
  const EventWord outer = region("outer"), inner = region("inner");
  bring({outer, inner}, [&] { EXPECT_TRUE(leave(inner)); });
  EXPECT_EQ(end().threads.at(1),
            (Lines{"enter outer", "enter inner", "leave inner", "leave outer"}));
}

TEST_F(BroughtTest, AThreadThatDoesNothingMoreIsClosedAtTheEnd) {
  begin();
  const EventWord outer = region("outer");
  bring({outer}, [] {});
  EXPECT_EQ(end().threads.at(1), (Lines{"enter outer", "leave outer"}));
}

TEST_F(BroughtTest, ARecorderOfAnEarlierMeasurementIsReplaced) {
  std::latch first(1), go(1);
  begin();
  EventWord one = region("one");
  OtherThread other{0, 0, ""};
  std::thread thread([&] {
    enter(one);
    leave(one);
    other = {static_cast<std::uintptr_t>(pthread_self()), os::thread_id(), ""};
    first.count_down();
    go.wait();
    EXPECT_TRUE(leave(one));
  });
  first.wait();
  EXPECT_EQ(bring_in(other), nullptr);  // it takes part already
  (void)end();
  next_spool();
  begin();
  define(RegionId{payload_of(one)});
  ThreadRecorder* recorder = bring_in(other);
  ASSERT_NE(recorder, nullptr);
  recorder->enter(user_token(one), one);
  go.count_down();
  thread.join();
  EXPECT_EQ(end().threads.at(1), (Lines{"enter one", "leave one"}));
}

std::atomic<int> g_wanted = -1;
// A wrapper in a signal handler on the thread's signal stack, which may have interrupted its
// recorder.
void note_wanted(int) { g_wanted = WrapperScope(nullptr).wanted() ? 1 : 0; }

// True if a wrapper called by such a handler records on this thread.
int wanted_in_handler() {
  struct sigaction handler {
  }, before{};
  handler.sa_handler = note_wanted;
  handler.sa_flags = SA_ONSTACK;
  EXPECT_EQ(::sigaction(SIGUSR2, &handler, &before), 0);
  g_wanted = -1;
  EXPECT_EQ(::raise(SIGUSR2), 0);
  EXPECT_EQ(::sigaction(SIGUSR2, &before, nullptr), 0);
  return g_wanted;
}

TEST_F(BroughtTest, HandlersOnItsSignalStackRecordNothing) {
  begin();
  const EventWord outer = region("outer");
  bring({outer}, [&] {
    EXPECT_TRUE(leave(outer));
    EXPECT_EQ(wanted_in_handler(), 0);
    EXPECT_TRUE(WrapperScope(nullptr).wanted());
  });
  EXPECT_EQ(wanted_in_handler(), 0);  // the same on a thread that has attached itself
}

TEST_F(BroughtTest, NobodyIsBroughtInWithoutAMeasurement) {
  EXPECT_EQ(bring_in({static_cast<std::uintptr_t>(pthread_self()), 1, ""}), nullptr);
  EXPECT_EQ(take_brought(), nullptr);
}

std::atomic<int> g_heard = 0;
constexpr int kGone = -1, kNothing = -2;
void heard(int descriptor) noexcept {
  char byte = 0;
  const ssize_t size = ::recv(descriptor, &byte, 1, MSG_DONTWAIT);
  g_heard = size == 1 ? byte : size == 0 ? kGone : kNothing;
}

class ListenerTest : public ::testing::Test {
 protected:
  ListenerTest() {
    g_heard = 0;
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0);
  }
  ~ListenerTest() override { ::close(ends_[0]); }
  static void wait_for_end() {
    while (is_listening()) std::this_thread::yield();
  }
  // True if the other side has closed its end.
  bool closed() const {
    char byte = 0;
    return ::recv(ends_[0], &byte, 1, MSG_DONTWAIT) == 0;
  }
  int ends_[2];
};

TEST_F(ListenerTest, HearsAWordAndClosesTheDescriptor) {
  ASSERT_TRUE(begin_listening(ends_[1], 0, heard));
  EXPECT_FALSE(begin_listening(ends_[1], 0, heard));
  EXPECT_EQ(::write(ends_[0], "x", 1), 1);
  wait_for_end();
  EXPECT_EQ(g_heard, 'x');
  EXPECT_TRUE(closed());
}

TEST_F(ListenerTest, HearsThatTheOtherSideIsGone) {
  ASSERT_TRUE(begin_listening(ends_[1], 0, heard));
  ::shutdown(ends_[0], SHUT_WR);
  wait_for_end();
  EXPECT_EQ(g_heard, kGone);
}

TEST_F(ListenerTest, EndsAtATime) {
  ASSERT_TRUE(begin_listening(ends_[1], monotonic_ns() + 1, heard));
  wait_for_end();
  EXPECT_EQ(g_heard, kNothing);
  EXPECT_TRUE(closed());
}

TEST_F(ListenerTest, IsPausedForForksAndStopped) {
  ASSERT_TRUE(begin_listening(ends_[1], 0, heard));
  pause_listening();
  pause_listening();
  EXPECT_TRUE(is_listening());
  EXPECT_EQ(::write(ends_[0], "x", 1), 1);
  resume_listening();
  wait_for_end();
  EXPECT_EQ(g_heard, 'x');
  EXPECT_FALSE(stop_listening(heard));
}

TEST_F(ListenerTest, HasALastWordWhenItIsStopped) {
  ASSERT_TRUE(begin_listening(ends_[1], 0, [](int) noexcept { g_heard = 1; }));
  EXPECT_TRUE(stop_listening([](int descriptor) noexcept {
    EXPECT_TRUE(is_listening());
    EXPECT_EQ(::write(descriptor, "y", 1), 1);
  }));
  EXPECT_FALSE(is_listening());
  EXPECT_EQ(g_heard, 0);
  char said = 0;
  EXPECT_EQ(::read(ends_[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  EXPECT_TRUE(closed());
}

// The numbers of the open descriptors of this process.
std::set<int> descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    found.insert(std::stoi(entry.path().filename().string()));
  std::erase_if(found, [](int number) { return ::fcntl(number, F_GETFD) < 0; });
  return found;
}

TEST_F(ListenerTest, LeavesDescriptorsThatTheProgramHasTakenAlone) {
  const std::set<int> before = descriptors();
  ASSERT_TRUE(begin_listening(ends_[1], 0, heard));
  // The program closes all unknown descriptors, and opens a file at each number.
  const int file = ::memfd_create("theirs", MFD_CLOEXEC);
  std::vector<int> taken;
  for (const int number : descriptors()) {
    if (before.contains(number) || number == file) continue;
    EXPECT_GE(number, 512);
    EXPECT_EQ(::dup2(file, number), number);
    taken.push_back(number);
  }
  EXPECT_EQ(taken.size(), 3u);
  pause_listening();
  resume_listening();
  wait_for_end();
  EXPECT_EQ(g_heard, kNothing);  // there is no listener any more
  EXPECT_TRUE(closed());
  EXPECT_EQ(::lseek(file, 0, SEEK_END), 0);
  for (const int number : taken) EXPECT_EQ(::close(number), 0);
  ::close(file);
}

}  // namespace
}  // namespace timeloom::record
