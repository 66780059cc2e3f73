#include "record/listener.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "os/thread.hpp"

namespace timeloom::record {
namespace {

enum class Phase { kNone, kListening, kPaused, kHeard };

struct Listener {
  os::HelperThread thread;
  std::mutex mutex;  // guards what follows
  Phase phase = Phase::kNone;
  int descriptor = -1;
  int wake = -1;  // readable when the thread is to end
  std::uint64_t until_ns = 0;
  void (*heard)(int descriptor) noexcept = nullptr;
};

// Never destroyed: its thread may outlive the static objects of the program.
Listener& the_listener() {
  static auto* const kInstance = new Listener;
  return *kInstance;
}

void close_both(Listener& listener) noexcept {
  for (int* descriptor : {&listener.descriptor, &listener.wake}) {
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  }
}

// The child has copies of both, which would keep the other side waiting.
void forget_after_fork() {
  Listener& listener = the_listener();
  close_both(listener);
  listener.phase = Phase::kNone;
  listener.thread.abandon();
  new (&listener.mutex) std::mutex;
}

// In milliseconds, rounded up; -1: for good.
int left_until(std::uint64_t until_ns) noexcept {
  if (until_ns == 0) return -1;
  const std::uint64_t now = os::sync_clocks().monotonic_ns;
  const std::uint64_t left = until_ns > now ? (until_ns - now + 999'999) / 1'000'000 : 0;
  return static_cast<int>(std::min<std::uint64_t>(left, 1'000'000));
}

// Returns when there is something to hear, or when the thread is to end.
void wait(int descriptor, int wake, std::uint64_t until_ns) noexcept {
  pollfd both[] = {{descriptor, POLLIN, 0}, {wake, POLLIN, 0}};
  int left = 0;
  do {
    left = left_until(until_ns);
  } while (::poll(both, 2, left) <= 0 && left != 0);
}

void run() {
  Listener& listener = the_listener();
  std::unique_lock lock(listener.mutex);  // start() has returned then
  const int descriptor = listener.descriptor, wake = listener.wake;
  const std::uint64_t until_ns = listener.until_ns;
  lock.unlock();
  wait(descriptor, wake, until_ns);
  lock.lock();
  if (listener.phase != Phase::kListening) return;
  listener.phase = Phase::kHeard;
  lock.unlock();
  listener.heard(descriptor);
  lock.lock();
  close_both(listener);
  listener.thread.detach();
  listener.phase = Phase::kNone;
}

// `heard` may run Python code.
constexpr std::size_t kStack = std::size_t{1} << 20;

bool start_thread(Listener& listener) noexcept {
  if (listener.thread.start("timeloom-attach", run, kStack) != 0) return false;
  listener.phase = Phase::kListening;
  return true;
}

// From kListening. The thread does not run any more afterwards.
void end_thread(Listener& listener, std::unique_lock<std::mutex>& lock) noexcept {
  listener.phase = Phase::kPaused;
  (void)::eventfd_write(listener.wake, 1);
  lock.unlock();
  listener.thread.join();
  lock.lock();
  eventfd_t ignored = 0;
  (void)::eventfd_read(listener.wake, &ignored);
}

}  // namespace

bool begin_listening(int descriptor, std::uint64_t until_ns,
                     void (*heard)(int descriptor) noexcept) noexcept {
  static const bool kForkHandled = [] {
    os::at_fork_in_child(forget_after_fork);
    return true;
  }();
  (void)kForkHandled;
  Listener& listener = the_listener();
  const std::lock_guard lock(listener.mutex);
  if (listener.phase != Phase::kNone) return false;
  listener.wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (listener.wake < 0) return false;
  listener.descriptor = descriptor;
  listener.until_ns = until_ns;
  listener.heard = heard;
  if (start_thread(listener)) return true;
  listener.descriptor = -1;
  close_both(listener);
  return false;
}

void pause_listening() noexcept {
  Listener& listener = the_listener();
  std::unique_lock lock(listener.mutex);
  if (listener.phase == Phase::kListening) end_thread(listener, lock);
}

void resume_listening() noexcept {
  Listener& listener = the_listener();
  const std::lock_guard lock(listener.mutex);
  if (listener.phase == Phase::kPaused) (void)start_thread(listener);
}

int stop_listening() noexcept {
  Listener& listener = the_listener();
  std::unique_lock lock(listener.mutex);
  if (listener.phase == Phase::kListening) end_thread(listener, lock);
  if (listener.phase != Phase::kPaused) return -1;
  listener.phase = Phase::kNone;
  const int descriptor = std::exchange(listener.descriptor, -1);
  close_both(listener);
  return descriptor;
}

bool is_listening() noexcept {
  Listener& listener = the_listener();
  const std::lock_guard lock(listener.mutex);
  return listener.phase != Phase::kNone;
}

}  // namespace timeloom::record
