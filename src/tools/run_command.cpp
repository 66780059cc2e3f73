// `timeloom run`: becomes `python -m timeloom`, in the Python that has Timeloom; with
// --program it starts a program without Python (run_native.hpp).

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"
#include "core/native_run.hpp"
#include "core/shell_word.hpp"
#include "settings/command_line.hpp"
#include "settings/settings_text.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/find_python.hpp"
#include "tools/open_run.hpp"
#include "tools/output.hpp"
#include "tools/run_native.hpp"

namespace timeloom::tools {

namespace {

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// -S, alone or among others (-SE), but not in a value (-WS).
bool skips_site(const CommandLine& line) {
  return std::ranges::any_of(line.interpreter_flags, [](const std::string& word) {
    const std::string letters = word.substr(0, word.find_first_of("WX"));
    return letters.starts_with('-') && letters.find('S') != std::string::npos;
  });
}

std::vector<std::string> python_words(const CommandLine& line, const PythonChoice& python) {
  std::vector<std::string> words = {python.program};
  append(words, line.interpreter_flags);
  // With -S python does not look where packages are installed, but it can be
  // given the path of one.
  if (skips_site(line) && !python.package.empty()) {
    words.push_back(python.package);
  } else {
    append(words, {"-m", "timeloom"});
  }
  append(words, option_words(line));
  append(words, program_words(line));
  return words;
}

std::vector<char*> argument_vector(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return arguments;
}

// The exit status of a command that neither reads nor prints; -1: it did not get that far.
int status_of(std::vector<std::string> words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  std::vector<char*> arguments = argument_vector(words);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// A Python that is not known to have Timeloom is asked. Everything else that may be wrong
// with it, it says itself when it is started.
void refuse_without_timeloom(const CommandLine& line, const PythonChoice& python) {
  if (python.sure || skips_site(line)) return;
  constexpr int kMissing = 83;
  std::vector<std::string> words = {python.program};
  append(words, line.interpreter_flags);
  append(words, {"-c",
                 "import sys, importlib.util\n"
                 "sys.exit(83 if importlib.util.find_spec('timeloom') is None else 0)"});
  if (status_of(std::move(words)) != kMissing) return;
  throw Error(python.program + " has no Timeloom; install it there: " + shell_word(python.program) +
              " -m pip install timeloom");
}

[[noreturn]] void become(std::vector<std::string>& words) {
  const std::vector<char*> arguments = argument_vector(words);
  execv(arguments[0], arguments.data());
  throw Error("cannot start " + words[0] + ": " + std::strerror(errno));
}

// The path of a Python that measures nothing, and on a second line the reason, from
// python/timeloom/_unmeasured.py.
constexpr char kUnmeasuredVariable[] = "TIMELOOM_UNMEASURED";

// Becomes the program as plain `python` runs it.
[[noreturn]] void run_unmeasured(const CommandLine& line, const std::string& python_and_reason) {
  const std::size_t end = python_and_reason.find('\n');
  say("nothing is measured: " + python_and_reason.substr(end + 1));
  unsetenv(kUnmeasuredVariable);
  std::vector<std::string> words = {python_and_reason.substr(0, end)};
  append(words, line.interpreter_flags);
  append(words, program_words(line));
  become(words);
}

[[noreturn]] void run(const CommandLine& line) {
  if (line.kind == ProgramKind::kNone) {
    throw Error("no program given; write: timeloom run script.py, or see timeloom run --help");
  }
  if (const char* unmeasured = std::getenv(kUnmeasuredVariable)) run_unmeasured(line, unmeasured);
  const PythonChoice python = find_python(own_executable());
  refuse_without_timeloom(line, python);
  std::vector<std::string> words = python_words(line, python);
  unsetenv(kNativeSettingsVariable);  // of a run around this one
  unsetenv(kNativeSpoolsVariable);
  become(words);
}

// An error here is one of the command line or the environment: the program has
// not been started.
int run_or_refuse(const std::vector<std::string>& arguments) {
  CommandLine line;
  try {
    line = parse_command_line(arguments, InterpreterFlags::kTake);
    if (line.kind == ProgramKind::kNative) return run_native(line);
    if (!line.help && !line.version) run(line);
  } catch (const Error& error) {
    say(error.what());
    return kWrongUsage;
  }
  return print(line.help ? run_help() : "timeloom " TIMELOOM_VERSION "\n");
}

}  // namespace

Command register_run(CLI::App& program) {
  const CommandOptions known(program, "run", "Run a Python program and record what it does");
  return {known.app(), [] { return run_or_refuse({}); }, run_or_refuse};
}

}  // namespace timeloom::tools
