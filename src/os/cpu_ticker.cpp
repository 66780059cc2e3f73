#include "os/cpu_ticker.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "os/running_threads.hpp"
#include "os/thread.hpp"

namespace timeloom::os {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

constinit std::atomic<std::uint64_t> g_events = 0;  // descriptors in use
constinit std::atomic<TickHandler> g_tick_handler = nullptr;

std::uint64_t most_descriptors() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

// Takes one of the descriptors that are for events; false: they are in use.
bool take_descriptor() noexcept {
  if (g_events.fetch_add(1) < most_descriptors() / 4) return true;
  g_events.fetch_sub(1);
  return false;
}

// Above the numbers that a program expects for its next file.
int move_up(int descriptor) noexcept {
  constexpr std::uint64_t kHighest = 1024;
  const auto least = static_cast<int>(std::min(most_descriptors(), kHighest) / 4 * 3);
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, least);
  if (moved < 0) return descriptor;
  ::close(descriptor);
  return moved;
}

// Users without rights may have events for user space alone.
int open_event(std::uint64_t thread, std::uint64_t period_ns, bool for_user_space) noexcept {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_TASK_CLOCK;
  event.sample_period = period_ns;
  event.disabled = 1;
  event.exclude_kernel = for_user_space ? 1 : 0;
  event.exclude_hv = 1;
  event.wakeup_events = 1;
  const auto of_thread = static_cast<pid_t>(thread);
  const long made = ::syscall(SYS_perf_event_open, &event, of_thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return made < 0 ? -1 : move_up(static_cast<int>(made));
}

int send_signal_for(int descriptor, int signal, std::uint64_t thread) noexcept {
  f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(thread)};
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETSIG, signal) != 0 ||
      ::fcntl(descriptor, F_SETOWN_EX, &owner) != 0 ||
      ::fcntl(descriptor, F_SETFL, flags | O_ASYNC) != 0) {
    return errno;
  }
  return 0;
}

std::uintptr_t interrupted_address(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.pc);
#else
  (void)machine;
  return 0;
#endif
}

bool is_sent_by_ticker(const siginfo_t& info) noexcept {
  return info.si_code == SI_TIMER || info.si_code == POLL_HUP || info.si_code == POLL_IN;
}

// To the calling thread: the kernel lets no other thread than the main one send such a signal to
// the whole process again.
void send_again(siginfo_t& info) noexcept {
  (void)::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread_id(), info.si_signo, &info);
}

void on_tick_signal(int, siginfo_t* info, void* context) {
  const int before = errno;
  TickHandler const handler = g_tick_handler.load(std::memory_order_relaxed);
  if (is_sent_by_ticker(*info) && handler != nullptr) {
    handler(interrupted_address(context), info->si_code == SI_TIMER);
  }
  errno = before;
}

bool has_default_action(int signal) noexcept {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

int CpuTicker::start_event(int signal, std::uint64_t period_ns) noexcept {
  if (!take_descriptor()) return EMFILE;
  for_user_space_ = false;
  descriptor_ = open_event(thread_, period_ns, false);
  if (descriptor_ < 0 && (errno == EACCES || errno == EPERM)) {
    for_user_space_ = true;
    descriptor_ = open_event(thread_, period_ns, true);
  }
  int error = descriptor_ < 0 ? errno : send_signal_for(descriptor_, signal, thread_);
  if (error == 0 && ::ioctl(descriptor_, PERF_EVENT_IOC_ID, &event_) != 0) error = errno;
  if (error == 0 && ::ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0) != 0) error = errno;
  if (error == 0) return 0;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  g_events.fetch_sub(1);
  return error;
}

int CpuTicker::start_timer(int signal, std::uint64_t period_ns) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = static_cast<pid_t>(thread_);
  if (::timer_create(cpu_clock_of_thread(thread_), &event, &timer_) != 0) return errno;
  itimerspec times{};
  times.it_value.tv_sec = static_cast<time_t>(period_ns / kSecond);
  times.it_value.tv_nsec = static_cast<long>(period_ns % kSecond);
  times.it_interval = times.it_value;
  has_timer_ = true;
  if (::timer_settime(timer_, 0, &times, nullptr) == 0) return 0;
  const int error = errno;
  stop_timer();
  return error;
}

void CpuTicker::stop_timer() noexcept {
  if (has_timer_) ::timer_delete(timer_);
  has_timer_ = false;
}

int CpuTicker::start(int signal, std::uint64_t period_ns, std::uint64_t thread) noexcept {
  stop();
  thread_ = thread;
  if (start_event(signal, period_ns) == 0) {
    source_ = for_user_space_ ? Source::kUserEvent : Source::kEvent;
    if (for_user_space_) (void)start_timer(signal, period_ns);
    return 0;
  }
  const int error = start_timer(signal, period_ns);
  if (error == 0) source_ = Source::kTimer;
  return error;
}

bool CpuTicker::owns_descriptor() const noexcept {
  std::uint64_t event = 0;
  return ::ioctl(descriptor_, PERF_EVENT_IOC_ID, &event) == 0 && event == event_;
}

bool CpuTicker::has_lost_event() const noexcept {
  const Source now = source();
  return (now == Source::kEvent || now == Source::kUserEvent) && !owns_descriptor();
}

int CpuTicker::replace_lost_event(int signal, std::uint64_t period_ns) noexcept {
  g_events.fetch_sub(1);
  const int error = has_timer_ ? 0 : start_timer(signal, period_ns);
  source_ = error == 0 ? Source::kTimer : Source::kNone;
  return error;
}

void CpuTicker::stop() noexcept {
  const Source before = source_.exchange(Source::kNone);
  if (before == Source::kNone) return;
  stop_timer();
  if (before == Source::kTimer) return;
  if (owns_descriptor()) ::close(descriptor_);
  g_events.fetch_sub(1);
}

void CpuTicker::forget() noexcept {
  has_timer_ = false;
  stop();
}

bool is_free_for_ticks(int signal) noexcept {
  return has_default_action(signal) || has_tick_handler(signal);
}

bool take_tick_signal(int signal, TickHandler handler) noexcept {
  if (!is_free_for_ticks(signal)) return false;
  struct sigaction action {};
  action.sa_sigaction = on_tick_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  // No other handler runs inside, which might leave this one by a jump; faults still do.
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    sigdelset(&action.sa_mask, fault);
  }
  g_tick_handler = handler;
  return ::sigaction(signal, &action, nullptr) == 0;
}

bool has_tick_handler(int signal) noexcept {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) != 0 &&
         action.sa_sigaction == on_tick_signal;
}

void take_pending_tick(int signal) noexcept {
  sigset_t signals{};
  if (::sigpending(&signals) != 0 || ::sigismember(&signals, signal) != 1) return;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, signal);
  siginfo_t info{};
  const timespec at_once{};
  if (::sigtimedwait(&signals, &info, &at_once) != signal) return;
  if (!is_sent_by_ticker(info)) send_again(info);
}

void give_back_tick_signal(int signal) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  if (has_tick_handler(signal)) (void)::sigaction(signal, &action, nullptr);
}

}  // namespace timeloom::os
