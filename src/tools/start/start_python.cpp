#include "tools/start/start_python.hpp"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/text/shell_word.hpp"

namespace timeloom::tools {

using namespace std::string_literals;

namespace {

std::vector<char*> argument_vector(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return arguments;
}

// What a command prints that reads nothing; its errors are not seen. In a file, so that nobody has
// to read while it runs.
class PrintedText {
 public:
  explicit PrintedText(std::vector<std::string> words)
      : file_(::memfd_create("timeloom", MFD_CLOEXEC)) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file_, STDOUT_FILENO);
    for (const int descriptor : {STDIN_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    }
    std::vector<char*> arguments = argument_vector(words);
    pid_t child = 0;
    const int error =
        posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
      status_ = WEXITSTATUS(status);
  }
  ~PrintedText() {
    if (file_ >= 0) ::close(file_);
  }
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

  int status() const noexcept { return status_; }
  std::string text() const {
    std::array<char, 3 * PATH_MAX> bytes{};
    const ssize_t size = ::pread(file_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
  }

 private:
  int file_;
  int status_ = -1;  // it did not get so far
};

constexpr int kMissing = 83;

// With -P, which keeps the current directory off its path. Anything may be printed before the
// path, by a sitecustomize; with -i, Python goes on after an exit that is not this one.
constexpr char kQuestion[] =
    "import os\n"
    "from importlib.util import find_spec\n"
    "spec = find_spec('timeloom')\n"
    "if spec is None or spec.origin is None: os._exit(83)\n"
    "os.write(1, b'\\0' + os.fsencode(os.path.dirname(spec.origin)) + b'\\0')\n"
    "os._exit(0)\n";

}  // namespace

std::string ask_for_package(const std::string& python, std::vector<std::string> flags) {
  flags.insert(flags.begin(), python);
  flags.insert(flags.end(), {"-P", "-c", kQuestion});
  const PrintedText answer(std::move(flags));
  if (answer.status() == kMissing) {
    throw Error(python + " has no Timeloom; install it there: " + shell_word(python) +
                " -m pip install timeloom [TL429]");
  }
  const std::string text = answer.text();
  const std::size_t begin = text.find("\0/"s) + 1;
  return begin == 0 ? std::string() : text.substr(begin, text.find('\0', begin) - begin);
}

void become(std::vector<std::string> words) {
  const std::vector<char*> arguments = argument_vector(words);
  execv(arguments[0], arguments.data());
  throw Error("cannot start " + words[0] + ": " + std::strerror(errno) + " [TL430]");
}

}  // namespace timeloom::tools
