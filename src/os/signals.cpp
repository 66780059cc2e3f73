#include "os/signals.hpp"

#include <signal.h>

namespace timeloom::os {
namespace {

constexpr int kFatal[] = {SIGTERM, SIGHUP,    SIGINT,  SIGQUIT, SIGABRT, SIGSEGV, SIGBUS,
                          SIGILL,  SIGFPE,    SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGXFSZ,
                          SIGPIPE, SIGVTALRM, SIGPROF, SIGSYS,  SIGTRAP};

void (*g_note)(int) = nullptr;

// A fault happens again when we return, now without a handler, and ends the
// process with all that belongs to it; other signals are sent once more, and
// arrive when the handler, which blocks them, has returned.
void on_signal(int signal, siginfo_t* info, void*) noexcept {
  g_note(signal);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
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

}  // namespace

void watch_fatal_signals(void (*note)(int signal)) noexcept {
  g_note = note;
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  // On the alternate stack, where there is one: the other may have overflown.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kFatal) {
    if (has_handler(signal, SIG_DFL)) ::sigaction(signal, &ours, nullptr);
  }
}

void unwatch_fatal_signals() noexcept {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int signal : kFatal) {
    if (is_ours(signal)) ::sigaction(signal, &standard, nullptr);
  }
}

}  // namespace timeloom::os
