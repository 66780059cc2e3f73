#include "os/signals.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <optional>

namespace timeloom::os {
namespace {

constexpr int kFatal[] = {SIGTERM, SIGHUP,    SIGINT,  SIGQUIT, SIGABRT, SIGSEGV, SIGBUS,
                          SIGILL,  SIGFPE,    SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGXFSZ,
                          SIGPIPE, SIGVTALRM, SIGPROF, SIGSYS,  SIGTRAP};

void note_nothing(int) noexcept {}

// Never null: a handler may have started on another thread before the watch ended.
constinit std::atomic<void (*)(int)> g_note = note_nothing;
constinit std::atomic<bool> g_watched = false;

// A fault happens again when we return, now without a handler, and ends the process as it
// should (perhaps with a core dump); other signals are sent once more, and arrive when the
// handler, which blocks them, has returned.
void on_signal(int signal, siginfo_t* info, void*) noexcept {
  g_note.load()(signal);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  // A seccomp filter of the program may refuse this, and the fault would be repeated for ever.
  if (::sigaction(signal, &standard, nullptr) != 0) ::syscall(SYS_exit_group, 128 + signal);
  const bool sent = info == nullptr || info->si_code <= 0;
  if (sent || (signal != SIGSEGV && signal != SIGBUS && signal != SIGILL && signal != SIGFPE)) {
    ::raise(signal);
  }
}

bool has_handler(int signal, void (*handler)(int)) noexcept {
  struct sigaction present {};
  return ::sigaction(signal, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
         present.sa_handler == handler;
}

bool is_ours(int signal) noexcept {
  struct sigaction present {};
  return ::sigaction(signal, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) != 0 &&
         present.sa_sigaction == on_signal;
}

void watch(int signal) noexcept {
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  // On the alternate stack, if there is one: the thread's own may have overflowed.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (has_handler(signal, SIG_DFL)) ::sigaction(signal, &ours, nullptr);
}

// Enough for the program's handlers, too; no page of it is touched before a signal comes.
constexpr std::size_t kStackSize = std::size_t{32} << 10;
// The guard below it, not accessible: a handler that needs more stack ends the process instead of
// overwriting other memory. A multiple of every page size.
constexpr std::size_t kGuardSize = std::size_t{64} << 10;

// The guard, and the stack above it; null: no memory.
std::byte* map_stack() noexcept {
  constexpr std::size_t kAll = kGuardSize + kStackSize;
  void* const memory = ::mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const guard = static_cast<std::byte*>(memory);
  if (::mprotect(guard + kGuardSize, kStackSize, PROT_READ | PROT_WRITE) == 0) return guard;
  ::munmap(memory, kAll);
  return nullptr;
}

void unmap_stack(std::byte* guard) noexcept { ::munmap(guard, kGuardSize + kStackSize); }

std::span<const std::byte> bytes_of(const stack_t& stack) noexcept {
  return {static_cast<const std::byte*>(stack.ss_sp), stack.ss_size};
}

// Frees the stack of a thread that ends, unless the program has replaced it.
void remove_stack(void* memory) {
  auto* const guard = static_cast<std::byte*>(memory);
  stack_t present{};
  if (::sigaltstack(nullptr, &present) == 0 && present.ss_sp == guard + kGuardSize) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  unmap_stack(guard);
}

}  // namespace

void watch_fatal_signals(void (*note)(int signal)) noexcept {
  g_note = note;
  g_watched = true;
  for (const int signal : kFatal) watch(signal);
}

void watch_fatal_signal_again(int signal) noexcept {
  if (!g_watched || std::ranges::find(kFatal, signal) == std::end(kFatal)) return;
  watch(signal);
}

std::span<const std::byte> give_signal_stack() noexcept {
  static const std::optional<pthread_key_t> kKey = [] {
    pthread_key_t key{};
    return pthread_key_create(&key, remove_stack) == 0 ? std::optional(key) : std::nullopt;
  }();
  stack_t present{};
  if (::sigaltstack(nullptr, &present) != 0) return {};
  if ((present.ss_flags & SS_DISABLE) == 0) return bytes_of(present);
  if (!kKey || pthread_getspecific(*kKey) != nullptr) return {};
  std::byte* const guard = map_stack();
  if (guard == nullptr) return {};
  stack_t ours{};
  ours.ss_sp = guard + kGuardSize;
  ours.ss_size = kStackSize;
  if (pthread_setspecific(*kKey, guard) != 0 || ::sigaltstack(&ours, nullptr) != 0) {
    pthread_setspecific(*kKey, nullptr);
    unmap_stack(guard);
    return {};
  }
  return bytes_of(ours);
}

void unwatch_fatal_signals() noexcept {
  g_watched = false;
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int signal : kFatal) {
    if (is_ours(signal)) ::sigaction(signal, &standard, nullptr);
  }
  g_note = note_nothing;
}

}  // namespace timeloom::os
