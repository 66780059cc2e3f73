#include "os/signal_name.hpp"

#include <signal.h>

#include <array>
#include <string_view>

namespace timeloom::os {
namespace {

struct Name {
  int signal;
  std::string_view name;
};

// sigabbrev_np() has the same names, from glibc 2.32 on.
constexpr std::array kNames = {
    Name{SIGHUP, "SIGHUP"},       Name{SIGINT, "SIGINT"},       Name{SIGQUIT, "SIGQUIT"},
    Name{SIGILL, "SIGILL"},       Name{SIGTRAP, "SIGTRAP"},     Name{SIGABRT, "SIGABRT"},
    Name{SIGBUS, "SIGBUS"},       Name{SIGFPE, "SIGFPE"},       Name{SIGKILL, "SIGKILL"},
    Name{SIGUSR1, "SIGUSR1"},     Name{SIGSEGV, "SIGSEGV"},     Name{SIGUSR2, "SIGUSR2"},
    Name{SIGPIPE, "SIGPIPE"},     Name{SIGALRM, "SIGALRM"},     Name{SIGTERM, "SIGTERM"},
    Name{SIGSTKFLT, "SIGSTKFLT"}, Name{SIGCHLD, "SIGCHLD"},     Name{SIGCONT, "SIGCONT"},
    Name{SIGSTOP, "SIGSTOP"},     Name{SIGTSTP, "SIGTSTP"},     Name{SIGTTIN, "SIGTTIN"},
    Name{SIGTTOU, "SIGTTOU"},     Name{SIGURG, "SIGURG"},       Name{SIGXCPU, "SIGXCPU"},
    Name{SIGXFSZ, "SIGXFSZ"},     Name{SIGVTALRM, "SIGVTALRM"}, Name{SIGPROF, "SIGPROF"},
    Name{SIGWINCH, "SIGWINCH"},   Name{SIGPOLL, "SIGPOLL"},     Name{SIGPWR, "SIGPWR"},
    Name{SIGSYS, "SIGSYS"},
};

}  // namespace

std::string signal_name(int signal) {
  for (const Name& one : kNames) {
    if (one.signal == signal) return std::string(one.name);
  }
  return "signal " + std::to_string(signal);
}

}  // namespace timeloom::os
