#include "tools/start/started_program.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "core/error.hpp"

namespace timeloom::tools {
namespace {

volatile sig_atomic_t g_program = 0;  // its process id
bool g_survives_file_limit = false;

// While it lives, signals from the terminal are left to the program, and others that would
// end us are passed on to it: there is still the run to weave.
class Signals {
 public:
  Signals() noexcept {
    set(SIGINT, SIG_IGN, 0);
    set(SIGQUIT, SIG_IGN, 1);
    set(SIGTERM, pass_on, 2);
    set(SIGHUP, pass_on, 3);
  }
  ~Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The signals that the program is to find as we did.
  sigset_t changed() const noexcept {
    sigset_t set;
    sigemptyset(&set);
    if (g_survives_file_limit) sigaddset(&set, SIGXFSZ);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      if (before_[i].sa_handler != SIG_IGN) sigaddset(&set, kSignals[i]);
    }
    return set;
  }

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

  static void pass_on(int signal) {
    if (g_program != 0) ::kill(g_program, signal);
  }
  void set(int signal, void (*handler)(int), std::size_t index) noexcept {
    ::sigaction(signal, nullptr, &before_[index]);
    if (before_[index].sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;
    ::sigaction(signal, &action, nullptr);
  }

  std::array<struct sigaction, 4> before_{};
};

// Returns an errno value; 0: it runs.
int spawn(const std::string& program, std::vector<std::string> words, const Signals& signals,
          pid_t& child) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const sigset_t defaults = signals.changed();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error =
      ::posix_spawnp(&child, program.c_str(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// The status of a process that has ended, as a shell returns it.
int status_of_program(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

void survive_file_limit() noexcept {
  g_survives_file_limit = std::signal(SIGXFSZ, SIG_IGN) != SIG_IGN;
}

int run_to_its_end(const std::string& program, const std::vector<std::string>& words) {
  const Signals signals;
  pid_t child = 0;
  const int error = spawn(program, words, signals, child);
  if (error != 0)
    throw Error("cannot start " + words.front() + ": " + std::strerror(error) + " [TL430]");
  g_program = child;
  const int status = status_of_program(child);
  g_program = 0;
  return status;
}

}  // namespace timeloom::tools
