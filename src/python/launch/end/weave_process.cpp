#include "python/launch/end/weave_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/executable.hpp"
#include "python/interpreter/compat.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

// Text of an attribute of sys; empty if it is none.
std::string sys_text(const char* name) {
  PyObject* value = PySys_GetObject(name);  // borrowed
  return value != nullptr && PyUnicode_Check(value) ? bytes_of(value) : std::string();
}

std::string find_program(const std::string& package) {
  for (const std::string& place :
       {package + "/bin/timeloom", sys_text("prefix") + "/bin/timeloom",
        fs::path(sys_text("executable")).parent_path().string() + "/timeloom"}) {
    if (place.starts_with('/') && is_executable(place.c_str())) return place;
  }
  return find_executable("timeloom", OnPath::kAbsolute);
}

// The end of the child should not reach a SIGCHLD handler of the program: the
// signal is held back on this thread and taken away again, unless it was pending
// before. The kernel may give it to another thread that does not block it; then
// the handler runs, and finds no child of the program.
class ChildSignal {
 public:
  ChildSignal() noexcept {
    sigset_t pending;
    sigemptyset(&child_);
    sigaddset(&child_, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child_, &mask_);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGCHLD) == 1;
  }
  ~ChildSignal() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&child_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;
  const sigset_t* mask() const noexcept { return &mask_; }

 private:
  sigset_t child_{};
  sigset_t mask_{};
  bool was_pending_ = false;
};

// Where the command prints what it has counted, and what the user wants printed. A file, since a
// pipe may be held open by processes that other threads of the program fork meanwhile.
class Answer {
 public:
  Answer() noexcept : fd_(::memfd_create("timeloom-weave", MFD_CLOEXEC)) {}
  ~Answer() {
    if (fd_ >= 0) ::close(fd_);
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  int fd() const noexcept { return fd_; }

  WeaveResult result() const {
    WeaveResult result{WeaveOutcome::kDone, {}, text()};
    result.counts = counts_in(take_line(result.printed, "woven "));
    result.engine = take_line(result.printed, "engine ");
    result.throttled = take_line(result.printed, "untimed ");
    result.finding = take_line(result.printed, "finding ");
    return result;
  }

 private:
  // All that it has printed.
  std::string text() const {
    struct stat status {};
    if (fd_ < 0 || ::fstat(fd_, &status) != 0) return {};
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t size = ::pread(fd_, text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

  // Takes the line that begins with `prefix` out of the text; what follows the prefix.
  static std::string take_line(std::string& text, const std::string& prefix) {
    const std::size_t found = text.starts_with(prefix) ? 0 : text.find("\n" + prefix);
    if (found == std::string::npos) return {};
    const std::size_t line = found == 0 ? 0 : found + 1;
    const std::size_t end = text.find('\n', line);
    if (end == std::string::npos) return {};
    std::string rest = text.substr(line + prefix.size(), end - line - prefix.size());
    text.erase(line, end + 1 - line);
    return rest;
  }

  static std::optional<WovenCounts> counts_in(const std::string& text) {
    std::istringstream words(text);
    std::array<std::uint64_t, 14> n{};
    for (std::uint64_t& number : n) words >> number;
    if (!words) return std::nullopt;
    return WovenCounts{n[0], n[1], n[2], n[3],  n[4],  n[5],  n[6],
                       n[7], n[8], n[9], n[10], n[11], n[12], n[13]};
  }

  int fd_;
};

// Standard descriptors that are open and lead nowhere but to our stderr and to `answer`: what
// the command prints on success is in the summary.
class Descriptors {
 public:
  Descriptors(bool silent, const Answer& answer) noexcept {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (silent || ::fcntl(STDERR_FILENO, F_GETFD) < 0) {
      posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (answer.fd() > STDERR_FILENO) {
      posix_spawn_file_actions_adddup2(&actions_, answer.fd(), STDOUT_FILENO);
    } else {  // the program has closed its own
      posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
  }
  ~Descriptors() { posix_spawn_file_actions_destroy(&actions_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The signals as the program was started with, less what python ignores.
class Attributes {
 public:
  explicit Attributes(const sigset_t* mask) noexcept {
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGCHLD}) sigaddset(&defaults, signal);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, mask);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

enum class ChildEnd { kSucceeded, kFailed, kNotKnown };

// Not known: somebody else took the exit status (SIGCHLD ignored, another thread in wait()).
ChildEnd wait_for(pid_t child) {
  int status = 0;
  pid_t waited = 0;
  // The other threads of the program run on.
  Py_BEGIN_ALLOW_THREADS;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  Py_END_ALLOW_THREADS;
  if (waited != child) return ChildEnd::kNotKnown;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ChildEnd::kSucceeded : ChildEnd::kFailed;
}

constexpr const char* kResultFiles[] = {"/traces.otf2", "/traces.packed", "/profile.cubex"};

// The run itself tells.
bool has_results(const std::string& run) {
  return std::ranges::any_of(
      kResultFiles, [&run](const char* name) { return ::access((run + name).c_str(), F_OK) == 0; });
}

// `timeloom weave` with these words.
ChildEnd run_weave(const std::string& program, std::vector<std::string> words, bool silent,
                   const Answer& answer) {
  words.insert(words.begin(), {std::string(program_name()), "weave"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const ChildSignal signal;
  const Descriptors descriptors(silent, answer);
  const Attributes attributes(signal.mask());
  pid_t child = 0;
  if (::posix_spawn(&child, program.c_str(), descriptors.get(), attributes.get(), arguments.data(),
                    environ) != 0) {
    return ChildEnd::kFailed;
  }
  return wait_for(child);
}

// The program weaves no other directory that lies at the path by now.
void add_id(std::vector<std::string>& words, const os::DirectoryId& run) {
  const std::string id = text_of(run);
  if (!id.empty()) words.insert(words.end(), {"--run-id", id});
}

}  // namespace

std::string extension_directory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&extension_directory), &info) == 0) return {};
  std::error_code ignored;
  return fs::absolute(info.dli_fname, ignored).parent_path().string();
}

WeaveResult weave_in_child(const std::string& run, const std::string& package,
                           const ChildWeave& how) {
  const std::string program = find_program(package);
  if (program.empty()) return {WeaveOutcome::kNoProgram};
  std::vector<std::string> words = {"--numbers"};
  if (how.keep_spool) words.push_back("--keep-spool");
  if (how.more_ranks) words.push_back("--more-ranks");
  add_id(words, how.run);
  words.push_back(run);
  const Answer answer;
  ChildEnd end = run_weave(program, std::move(words), how.silent, answer);
  if (end == ChildEnd::kNotKnown && has_results(run)) end = ChildEnd::kSucceeded;
  if (end != ChildEnd::kSucceeded) return {WeaveOutcome::kFailed};
  return answer.result();
}

void convert_in_child(const std::string& spool, std::uint32_t ranks, const std::string& package,
                      const os::DirectoryId& run, bool keep_spool) {
  const std::string program = find_program(package);
  if (program.empty()) return;
  std::vector<std::string> words = {"--convert", std::to_string(ranks)};
  if (keep_spool) words.push_back("--keep-spool");
  add_id(words, run);
  words.push_back(spool);
  run_weave(program, std::move(words), true, Answer());
}

}  // namespace timeloom::python
