#include "record/alarm.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
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

constexpr std::size_t kUses = 2;

// Never destroyed: its threads may outlive the static objects of the program.
Alarm& alarm_of(AlarmUse use) {
  static auto* const kAlarms = new std::array<Alarm, kUses>;
  return (*kAlarms)[static_cast<std::size_t>(use)];
}

void forget_alarm_after_fork() {
  for (const AlarmUse use : {AlarmUse::kWindow, AlarmUse::kRest}) {
    Alarm& alarm = alarm_of(use);
    if (!alarm.thread.running()) continue;
    alarm.thread.abandon();
    new (&alarm.mutex) std::mutex;
    new (&alarm.changed) std::condition_variable;
  }
}

void wait_and_ring(Alarm& alarm, std::uint64_t at_ns, Ring ring) {
  std::unique_lock lock(alarm.mutex);
  const std::uint64_t now = os::sync_clocks().monotonic_ns;
  std::chrono::nanoseconds left(at_ns > now ? at_ns - now : 0);
  while (!alarm.changed.wait_for(lock, left, [&] { return alarm.stopping; })) {
    lock.unlock();  // it may take long, and wait for something that the canceller holds
    left = std::chrono::nanoseconds(ring());
    lock.lock();
    if (left.count() == 0) return;
  }
}

}  // namespace

void set_alarm(AlarmUse use, std::uint64_t at_ns, Ring ring) noexcept {
  static const bool kForkHandled = [] {
    os::at_fork_in_child(forget_alarm_after_fork);
    return true;
  }();
  (void)kForkHandled;
  cancel_alarm(use);
  Alarm& alarm = alarm_of(use);
  alarm.stopping = false;
  // Without a thread it does not ring: all stays as it is.
  (void)alarm.thread.start("timeloom-alarm",
                           [&alarm, at_ns, ring] { wait_and_ring(alarm, at_ns, ring); });
}

void cancel_alarm(AlarmUse use) noexcept {
  Alarm& alarm = alarm_of(use);
  if (!alarm.thread.running()) return;
  {
    const std::lock_guard lock(alarm.mutex);
    alarm.stopping = true;
  }
  alarm.changed.notify_one();
  alarm.thread.join();
}

}  // namespace timeloom::record
