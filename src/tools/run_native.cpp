#include "tools/run_native.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/native_run.hpp"
#include "core/shell_word.hpp"
#include "run/contents.hpp"
#include "run/run_directory.hpp"
#include "tools/find_python.hpp"
#include "tools/open_run.hpp"
#include "tools/output.hpp"
#include "tools/wrapper_files.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

// The settings that do not concern Python.
constexpr std::string_view kNativeSettings[] = {"output",
                                                "force",
                                                "results",
                                                "weave",
                                                "keep-spool",
                                                "quiet",
                                                "buffer-size",
                                                "max-size",
                                                "at-max-size",
                                                "io",
                                                "mpi",
                                                "profile",
                                                "profile-depth",
                                                "max-depth",
                                                "metric-rusage",
                                                "metric-papi",
                                                "metric-rusage-per-process",
                                                "metric-papi-per-process",
                                                "metric-rusage-sep",
                                                "metric-papi-sep"};

void refuse_python_options(const CommandLine& line) {
  if (!line.interpreter_flags.empty()) {
    throw Error(line.interpreter_flags.front() + " is a flag of Python; --program starts none");
  }
  for (const auto& [setting, value] : line.options) {
    if (std::ranges::find(kNativeSettings, setting->name) != std::end(kNativeSettings)) continue;
    throw Error("--" + std::string(setting->name) +
                " is for Python programs; leave it out with --program");
  }
}

Settings settings_of(const CommandLine& line) {
  refuse_python_options(line);
  Settings settings;
  for (const std::string& remark : read_variables(settings, environ)) say(remark);
  apply(line, settings);
  return settings;
}

volatile sig_atomic_t g_program = 0;  // its process id

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
int spawn(const CommandLine& line, const std::string& program, const Signals& signals,
          pid_t& child) {
  std::vector<std::string> words = line.arguments;
  words.insert(words.begin(), line.target);
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

// Of a process that has ended, as a shell says it.
int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// `directory`: the run that it records; empty: it records none.
// `wrappers`: the value of LD_PRELOAD; empty: as it is.
int run_program(const CommandLine& line, const std::string& program, const fs::path& directory,
                const std::string& wrappers = {}) {
  const fs::path settings =
      directory.empty() ? directory : directory / run::entry(run::Item::kSettings).name;
  ::setenv(kNativeSettingsVariable, settings.c_str(), 1);
  if (!wrappers.empty()) ::setenv(kPreloadVariable, wrappers.c_str(), 1);
  const Signals signals;
  pid_t child = 0;
  const int error = spawn(line, program, signals, child);
  ::unsetenv(kNativeSettingsVariable);
  if (error != 0) throw Error("cannot start " + line.target + ": " + std::strerror(error));
  g_program = child;
  const int status = status_of(child);
  g_program = 0;
  return status;
}

// Empty: nothing is to be preloaded.
std::string preload_value(const Settings& settings) {
  const std::vector<std::string> files = files_of(wanted_wrappers(settings));
  const char* const present = std::getenv(kPreloadVariable);
  return files.empty() ? std::string() : with_libraries(present == nullptr ? "" : present, files);
}

bool has_recorded(const fs::path& directory) {
  std::error_code error;
  return std::ranges::any_of(fs::directory_iterator(directory / "spool", error),
                             [](const fs::directory_entry& entry) { return entry.is_directory(); });
}

// The run as the user can write it where the program was started.
std::string word_of(const fs::path& directory) {
  const fs::path here = run::current_directory();
  const fs::path relative = directory.lexically_relative(here);
  return shell_word(relative.empty() || relative.string().starts_with("..") ? directory.string()
                                                                            : relative.string());
}

// Says what was lost; the program's status stays what it is.
std::string weave_run(const fs::path& directory, const Settings& settings) try {
  if (!settings.flag("weave")) return "not woven yet; the next command does it";
  weave::WeaveOptions options;
  options.keep_spool = settings.flag("keep-spool");
  options.progress = ::isatty(STDERR_FILENO) == 1;
  const weave::WeaveSummary summary = weave::weave(directory, options);
  warn_of_depth(summary);
  return describe(summary);
} catch (const std::exception& error) {
  return std::string("not woven: ") + error.what() + "; what was recorded is still in the run";
}

void finish(const fs::path& directory, bool existed, const Settings& settings, double seconds) {
  if (!has_recorded(directory)) {
    run::forget_directory(directory, existed);
    say("nothing was recorded: the program has not loaded libtimeloom");
    return;
  }
  const std::string text = weave_run(directory, settings);
  const bool failed = text.starts_with("not woven: ");
  if (settings.flag("quiet")) {
    if (failed) say(text);
    return;
  }
  say(fmt::format("{:.3f} s, ", seconds) + text);
  say("next: timeloom report " + word_of(directory));
}

// Makes the directory of the run. Empty: the machine is in the way, which is said.
fs::path make_run(const CommandLine& line, const Settings& settings, bool& existed) try {
  fs::path directory = run::choose_directory(settings.text("output"), line.target);
  std::error_code ignored;
  existed = fs::exists(directory, ignored);
  run::make_directory(directory, settings.flag("force"), settings.as_variables());
  fs::create_directory(directory / "spool", ignored);  // what records says so where there is none
  return directory;
} catch (const Obstacle& error) {
  say(std::string("nothing is measured: ") + error.what());
  return {};
}

}  // namespace

int run_native(const CommandLine& line) {
  const Settings settings = settings_of(line);
  const std::string program = on_path(line.target);
  if (program.empty()) throw Error("there is no program " + line.target + " to run");
  if (settings.text("results") == "none") return run_program(line, program, {});
  bool existed = false;
  const fs::path directory = make_run(line, settings, existed);
  if (directory.empty()) return run_program(line, program, {});
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  try {
    status = run_program(line, program, directory, preload_value(settings));
  } catch (const Error&) {
    run::forget_directory(directory, existed);
    throw;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  finish(directory, existed, settings, wall.count());
  return status;
}

}  // namespace timeloom::tools
