#include "os/thread_wait.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace timeloom::os {
namespace {

constexpr std::size_t kText = 512;

struct CallInProgress {
  long number = 0;
  std::uint64_t arguments[6]{};
};

// Reads a file of /proc into `text`, which gets a zero at its end. An errno value.
int read_proc(const char* path, char (&text)[kText]) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const ssize_t size = ::read(file, text, kText - 1);
  const int error = size < 0 ? errno : 0;
  ::close(file);
  text[std::max<ssize_t>(size, 0)] = 0;
  return error;
}

int read_task_file(std::uint64_t thread, const char* name, char (&text)[kText]) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%llu/%s",
                static_cast<unsigned long long>(thread), name);
  return read_proc(path, text);
}

// The memory of this process may go while it is read, so the kernel copies it.
bool copy_own_memory(std::uint64_t address, void* to, std::size_t size) noexcept {
  iovec own{to, size};
  iovec other{reinterpret_cast<void*>(address), size};
  return ::process_vm_readv(::getpid(), &own, 1, &other, 1, 0) == static_cast<ssize_t>(size);
}

// A socket without a name comes from socketpair(): a pipe between processes, or a task loop's own.
bool has_socket_name(int descriptor) noexcept {
  sockaddr_un own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0) return true;
  if (own.sun_family != AF_UNIX) return true;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) return true;
  return own_size > offsetof(sockaddr_un, sun_path) || peer_size > offsetof(sockaddr_un, sun_path);
}

WaitKind kind_of_descriptor(int descriptor) noexcept {
  // What the kernel knows: a server of files that hangs is not asked.
  struct statx facts {};
  if (::statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &facts) != 0) {
    return WaitKind::kOther;
  }
  if (S_ISSOCK(facts.stx_mode)) {
    return has_socket_name(descriptor) ? WaitKind::kSocket : WaitKind::kProcess;
  }
  if (S_ISFIFO(facts.stx_mode)) return WaitKind::kProcess;
  // An eventfd, pidfd or timerfd has no type: all of them are set by threads or processes.
  return (facts.stx_mode & S_IFMT) == 0 ? WaitKind::kProcess : WaitKind::kFile;
}

// Of several descriptors: a socket or a file counts before a pipe, which is often there for waking.
WaitKind stronger(WaitKind one, WaitKind other) noexcept {
  const auto rank = [](WaitKind kind) {
    return kind == WaitKind::kSocket ? 3 : kind == WaitKind::kFile ? 2 : 1;
  };
  return rank(one) >= rank(other) ? one : other;
}

// The kind of a set of descriptors, of which the first ones are looked at.
constexpr std::size_t kMostDescriptors = 16;

WaitKind kind_of_poll(std::uint64_t address, std::uint64_t count) noexcept {
  if (count == 0) return WaitKind::kTime;
  pollfd some[kMostDescriptors];
  const std::size_t known = std::min<std::uint64_t>(count, kMostDescriptors);
  if (!copy_own_memory(address, some, known * sizeof some[0])) return WaitKind::kOther;
  WaitKind kind = WaitKind::kProcess;
  for (std::size_t i = 0; i < known; ++i) kind = stronger(kind, kind_of_descriptor(some[i].fd));
  return kind;
}

// `sets`: up to three addresses of fd_set.
WaitKind kind_of_select(std::uint64_t count, const std::uint64_t* sets) noexcept {
  WaitKind kind = WaitKind::kTime;
  std::size_t found = 0;
  for (int i = 0; i < 3; ++i) {
    std::uint64_t bits[16];
    const std::uint64_t words = std::min<std::uint64_t>((count + 63) / 64, 16);
    if (sets[i] == 0 || words == 0 || !copy_own_memory(sets[i], bits, words * 8)) continue;
    for (std::uint64_t at = 0; at < std::min<std::uint64_t>(count, words * 64); ++at) {
      if ((bits[at / 64] >> (at % 64) & 1) == 0 || found++ == kMostDescriptors) continue;
      const WaitKind one = kind_of_descriptor(static_cast<int>(at));
      kind = kind == WaitKind::kTime ? one : stronger(kind, one);
    }
  }
  return kind;
}

// A task loop that has nothing but its own pair of sockets waits for its next timer, if it has one.
WaitKind kind_of_epoll(int descriptor, bool timed) noexcept {
  char path[64], text[kText];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
  if (read_proc(path, text) != 0) return WaitKind::kOther;
  WaitKind kind = WaitKind::kProcess;
  const char* at = text;
  for (std::size_t i = 0; i < kMostDescriptors; ++i) {
    at = std::strstr(at, "tfd:");
    if (at == nullptr) break;
    at += 4;
    kind = stronger(kind, kind_of_descriptor(std::atoi(at)));
  }
  return kind == WaitKind::kProcess && timed ? WaitKind::kTime : kind;
}

ThreadWait futex_wait(const std::uint64_t* arguments) noexcept {
  const std::uint64_t operation = arguments[1];
  if ((operation & FUTEX_PRIVATE_FLAG) != 0) return {WaitKind::kFutex, arguments[0]};
  // The kernel wakes those who wait at the word with the id of a thread when that has ended. The
  // words of semaphores and locks that processes share are 0, 1 or 2 while one waits.
  return arguments[2] > 2 ? ThreadWait{WaitKind::kThreadEnd, 0}
                          : ThreadWait{WaitKind::kShared, arguments[0]};
}

WaitKind kind_of_call(const CallInProgress& call) noexcept {
  const std::uint64_t* const a = call.arguments;
  const int descriptor = static_cast<int>(a[0]);
  switch (call.number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return WaitKind::kTime;
    case SYS_wait4:
    case SYS_waitid: return WaitKind::kProcess;
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev: return kind_of_descriptor(descriptor);
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg: return kind_of_descriptor(descriptor);
    case SYS_connect:
    case SYS_accept:
    case SYS_accept4: return WaitKind::kSocket;
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_fallocate:
    case SYS_ftruncate:
    case SYS_openat:
    case SYS_unlinkat:
    case SYS_renameat2:
    case SYS_getdents64:
    case SYS_copy_file_range:
    case SYS_sendfile:
    case SYS_msync: return WaitKind::kFile;
    case SYS_ppoll: return kind_of_poll(a[0], a[1]);
    case SYS_pselect6: return kind_of_select(a[0], a + 1);
    case SYS_epoll_pwait: return kind_of_epoll(descriptor, static_cast<int>(a[3]) >= 0);
#ifdef SYS_epoll_wait
    case SYS_epoll_wait: return kind_of_epoll(descriptor, static_cast<int>(a[3]) >= 0);
#endif
#ifdef SYS_poll
    case SYS_poll: return kind_of_poll(a[0], a[1]);
#endif
#ifdef SYS_select
    case SYS_select: return kind_of_select(a[0], a + 1);
#endif
#ifdef SYS_open
    case SYS_open: return WaitKind::kFile;
#endif
    default: return WaitKind::kOther;
  }
}

}  // namespace

ThreadWait thread_wait(std::uint64_t thread) noexcept {
  char text[kText];
  if (const int error = read_task_file(thread, "syscall", text); error != 0) {
    if (error == EMFILE || error == ENFILE || error == ENOMEM) return {WaitKind::kRunning, 0};
    // A thread that ends takes its directory along, and the kernel ends the reading.
    char again[kText];
    const int other = read_task_file(thread, "stat", again);
    const bool gone = error == ESRCH || other == ESRCH ||
                      (other == ENOENT && ::access("/proc/self/task", F_OK) == 0);
    return {gone ? WaitKind::kNone : WaitKind::kHidden, 0};
  }
  if (std::strncmp(text, "running", 7) == 0) return {WaitKind::kRunning, 0};
  char* end = text;
  CallInProgress call;
  call.number = std::strtol(text, &end, 10);
  if (end == text) return {WaitKind::kHidden, 0};
  for (std::uint64_t& argument : call.arguments) argument = std::strtoull(end, &end, 16);
  if (call.number == SYS_futex) return futex_wait(call.arguments);
  const WaitKind kind = kind_of_call(call);
  return {kind, kind == WaitKind::kOther ? static_cast<std::uint64_t>(call.number) : 0};
}

bool run_delay(std::uint64_t thread, std::uint64_t& nanoseconds) noexcept {
  char text[kText];
  if (read_task_file(thread, "schedstat", text) != 0) return false;
  char* end = text;
  (void)std::strtoull(text, &end, 10);
  if (*end != ' ') return false;
  nanoseconds = std::strtoull(end, &end, 10);
  return true;
}

// CPU clocks of threads have their ids, inverted, above three bits: clock_gettime(2) calls this
// layout a part of the kernel's interface.
std::uint64_t thread_of_clock(clockid_t clock) noexcept {
  return static_cast<std::uint64_t>(~(clock >> 3));
}

bool machine_load(std::uint32_t& runnable, std::uint32_t& processors) noexcept {
  char text[kText];
  cpu_set_t own;
  if (read_proc("/proc/loadavg", text) != 0) return false;
  if (::sched_getaffinity(0, sizeof own, &own) != 0) return false;
  const char* at = text;
  for (int i = 0; i < 3 && at != nullptr; ++i) at = std::strchr(at + (i > 0), ' ');
  if (at == nullptr) return false;
  runnable = static_cast<std::uint32_t>(std::strtoul(at + 1, nullptr, 10));
  processors = static_cast<std::uint32_t>(CPU_COUNT(&own));
  return true;
}

}  // namespace timeloom::os
