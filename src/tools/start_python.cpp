#include "tools/start_python.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/shell_word.hpp"

namespace timeloom::tools {

namespace {

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

}  // namespace

void refuse_without_timeloom(const PythonChoice& python, const std::vector<std::string>& flags) {
  if (python.sure) return;
  constexpr int kMissing = 83;
  std::vector<std::string> words = {python.program};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(),
               {"-c",
                "import sys, importlib.util\n"
                "sys.exit(83 if importlib.util.find_spec('timeloom') is None else 0)"});
  if (status_of(std::move(words)) != kMissing) return;
  throw Error(python.program + " has no Timeloom; install it there: " + shell_word(python.program) +
              " -m pip install timeloom");
}

void become(std::vector<std::string> words) {
  const std::vector<char*> arguments = argument_vector(words);
  execv(arguments[0], arguments.data());
  throw Error("cannot start " + words[0] + ": " + std::strerror(errno));
}

}  // namespace timeloom::tools
