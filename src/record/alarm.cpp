#include "record/alarm.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "os/clock.hpp"
#include "os/thread.hpp"

namespace timeloom::record {
namespace {

struct Alarm {
  os::HelperThread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
};

// Never destroyed: its thread may outlive the static objects of the program.
Alarm& the_alarm() {
  static auto* const kInstance = new Alarm;
  return *kInstance;
}

void forget_after_fork() {
  Alarm& alarm = the_alarm();
  if (!alarm.thread.running()) return;
  alarm.thread.abandon();
  new (&alarm.mutex) std::mutex;
  new (&alarm.changed) std::condition_variable;
}

void wait_and_ring(std::uint64_t at_ns, bool (*ring)() noexcept) {
  Alarm& alarm = the_alarm();
  std::unique_lock lock(alarm.mutex);
  const std::uint64_t now = os::sync_clocks().monotonic_ns;
  std::chrono::nanoseconds left(at_ns > now ? at_ns - now : 0);
  while (!alarm.changed.wait_for(lock, left, [&] { return alarm.stopping; }) && !ring()) {
    left = std::chrono::milliseconds(1);
  }
}

}  // namespace

void set_alarm(std::uint64_t at_ns, bool (*ring)() noexcept) noexcept {
  static const bool kForkHandled = [] {
    os::at_fork_in_child(forget_after_fork);
    return true;
  }();
  (void)kForkHandled;
  cancel_alarm();
  Alarm& alarm = the_alarm();
  alarm.stopping = false;
  // Without a thread it does not ring: the window stays as it is.
  (void)alarm.thread.start("timeloom-alarm", [at_ns, ring] { wait_and_ring(at_ns, ring); });
}

void cancel_alarm() noexcept {
  Alarm& alarm = the_alarm();
  if (!alarm.thread.running()) return;
  {
    const std::lock_guard lock(alarm.mutex);
    alarm.stopping = true;
  }
  alarm.changed.notify_one();
  alarm.thread.join();
}

}  // namespace timeloom::record
