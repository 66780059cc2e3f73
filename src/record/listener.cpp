#include "record/listener.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>

#include "os/clock.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"

namespace timeloom::record {
namespace {

enum class Phase { kNone, kListening, kPaused, kHeard };

struct Listener {
  os::HelperThread thread;
  std::mutex mutex;  // guards what follows
  Phase phase = Phase::kNone;
  os::File channel;
  // Both ends of a pair of sockets: a word at the first is heard at the second. Not an eventfd:
  // all of them are the same file, so that one of the program is not told from ours.
  std::array<os::File, 2> wakeup;
  std::atomic<bool> ends = false;  // the thread is to end
  std::uint64_t until_ns = 0;
  void (*heard)(int descriptor) noexcept = nullptr;
};

// Never destroyed: its thread may outlive the static objects of the program.
Listener& the_listener() {
  static auto* const kInstance = new Listener;
  return *kInstance;
}

void close_all(Listener& listener) noexcept {
  listener.channel.close();
  for (os::File& end : listener.wakeup) end.close();
}

// The child has a copy of the channel, which would keep the other side waiting.
void forget_listener_after_fork() {
  Listener& listener = the_listener();
  close_all(listener);
  listener.phase = Phase::kNone;
  listener.thread.abandon();
  new (&listener.mutex) std::mutex;
}

// How often the thread looks whether its descriptors are still there.
constexpr std::uint64_t kLookMs = 1000;

// In milliseconds, rounded up, but no more than those.
int left_until(std::uint64_t until_ns) noexcept {
  if (until_ns == 0) return kLookMs;
  const std::uint64_t now = os::sync_clocks().monotonic_ns;
  const std::uint64_t left = until_ns > now ? (until_ns - now + 999'999) / 1'000'000 : 0;
  return static_cast<int>(std::min(left, kLookMs));
}

// Returns when there is something to hear, or when the thread is to end.
void wait(const Listener& listener) noexcept {
  const os::File &channel = listener.channel, &wakeup = listener.wakeup[1];
  while (!listener.ends && channel.is_ours()) {
    const int left = left_until(listener.until_ns);
    if (left == 0) return;
    pollfd both[] = {{channel.fd(), POLLIN, 0}, {wakeup.is_ours() ? wakeup.fd() : -1, POLLIN, 0}};
    if (::poll(both, 2, left) > 0 && both[0].revents != 0 && channel.is_ours()) return;
  }
}

// -1: the program has closed it.
int descriptor_of(const Listener& listener) noexcept {
  return listener.channel.is_ours() ? listener.channel.fd() : -1;
}

void run() {
  Listener& listener = the_listener();
  std::unique_lock lock(listener.mutex);  // start() has returned then
  lock.unlock();
  wait(listener);  // nothing of it is changed meanwhile but `ends`
  lock.lock();
  if (listener.phase != Phase::kListening) return;
  listener.phase = Phase::kHeard;
  lock.unlock();
  listener.heard(descriptor_of(listener));
  lock.lock();
  close_all(listener);
  listener.thread.detach();
  listener.phase = Phase::kNone;
}

// `heard` may run Python code.
constexpr std::size_t kStack = std::size_t{1} << 20;

// Without them the thread ends when it looks next.
void make_wakeup(Listener& listener) noexcept {
  for (os::File& end : listener.wakeup) end.close();  // it may have been read from
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;
  int ignored = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    listener.wakeup[i] = os::File::copy_of(ends[i], &ignored);
    ::close(ends[i]);
  }
}

bool start_thread(Listener& listener) noexcept {
  listener.ends = false;
  make_wakeup(listener);
  if (listener.thread.start("timeloom-attach", run, kStack) != 0) return false;
  listener.phase = Phase::kListening;
  return true;
}

// From kListening. The thread does not run any more afterwards.
void end_thread(Listener& listener, std::unique_lock<std::mutex>& lock) noexcept {
  listener.phase = Phase::kPaused;
  listener.ends = true;
  const os::File& wakeup = listener.wakeup[0];
  if (wakeup.is_ours()) (void)::send(wakeup.fd(), "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  lock.unlock();
  listener.thread.join();
  lock.lock();
}

}  // namespace

bool begin_listening(int descriptor, std::uint64_t until_ns,
                     void (*heard)(int descriptor) noexcept) noexcept {
  static const bool kForkHandled = [] {
    os::at_fork_in_child(forget_listener_after_fork);
    return true;
  }();
  (void)kForkHandled;
  Listener& listener = the_listener();
  const std::lock_guard lock(listener.mutex);
  if (listener.phase != Phase::kNone) return false;
  int error = 0;
  listener.channel = os::File::copy_of(descriptor, &error);
  listener.until_ns = until_ns;
  listener.heard = heard;
  if (error == 0 && start_thread(listener)) {
    ::close(descriptor);
    return true;
  }
  close_all(listener);
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

bool stop_listening(void (*last)(int descriptor) noexcept) noexcept {
  Listener& listener = the_listener();
  std::unique_lock lock(listener.mutex);
  if (listener.phase == Phase::kListening) end_thread(listener, lock);
  if (listener.phase != Phase::kPaused) return false;
  listener.phase = Phase::kHeard;
  lock.unlock();
  last(descriptor_of(listener));
  lock.lock();
  close_all(listener);
  listener.phase = Phase::kNone;
  return true;
}

bool is_listening() noexcept {
  Listener& listener = the_listener();
  const std::lock_guard lock(listener.mutex);
  return listener.phase != Phase::kNone;
}

}  // namespace timeloom::record
