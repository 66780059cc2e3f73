#include "os/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "os/read_file.hpp"

namespace timeloom::os {
namespace {

std::uint64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

std::uint64_t process_cpu_ns() noexcept { return nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID); }
std::uint64_t thread_cpu_ns() noexcept { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

std::string hostname() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string executable() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

namespace {

std::vector<std::string> words_in(const std::string& path) {
  const std::string text = read_file(path.c_str());
  const std::vector<std::string_view> words = pieces_of(text, '\0');
  return {words.begin(), words.end()};
}

}  // namespace

std::vector<std::string> command_line() { return words_in("/proc/self/cmdline"); }

std::string thread_name() {
  char name[16] = "";
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 ? name : std::string();
}

namespace {

constexpr char kSelf[] = "self";

std::string file_of(const std::string& process, const char* name) {
  return "/proc/" + process + "/" + name;
}

// 0: the text does not start with a digit.
std::uint64_t number_of(std::string_view digits, int base) noexcept {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return number;
}

struct Status {
  char state = 0;
  std::uint64_t parent = 0;
  std::uint64_t threads = 0;
  std::uint64_t start = 0;
};

// Fields of /proc/PID/stat, from the third on.
constexpr std::size_t kState = 0, kParent = 1, kThreads = 17, kStart = 19;

// None: there is no such process.
std::optional<Status> status_of(const std::string& process) {
  const std::string line = read_file(file_of(process, "stat"));
  // The name of the program comes second, in parentheses; it may itself contain any characters.
  const std::string_view rest = line;
  const std::vector<std::string_view> fields =
      pieces_of(rest.substr(std::min(rest.size(), rest.rfind(')') + 2)), ' ');
  if (fields.size() <= kStart) return std::nullopt;
  const auto number = [&](std::size_t i) { return number_of(fields[i], 10); };
  return Status{fields[kState][0], number(kParent), number(kThreads), number(kStart)};
}

std::uint64_t pid_namespace() noexcept {
  struct stat status {};
  return ::stat(file_of(kSelf, "ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

std::array<std::uint64_t, 2> boot_id() {
  std::string text = read_file("/proc/sys/kernel/random/boot_id");
  std::erase_if(text, [](char byte) { return byte == '-' || byte == '\n'; });
  constexpr std::size_t kDigits = 16;  // of 64 bits
  if (text.size() != 2 * kDigits) return {};
  const std::string_view digits = text;
  return {number_of(digits.substr(0, kDigits), 16), number_of(digits.substr(kDigits), 16)};
}

// The main thread of a process may have ended before the others.
bool has_ended(const Status& status) noexcept {
  return status.state == 'X' || (status.state == 'Z' && status.threads <= 1);
}

struct FileIdentity {
  dev_t device;
  ino_t inode;
  std::string path;  // absolute; file systems made of layers show other numbers
};

// None: the system does not tell.
std::optional<FileIdentity> identity_of(const File& file) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return std::nullopt;
  std::error_code error;
  const auto link = std::filesystem::path("/proc/self/fd") / std::to_string(file.fd());
  return FileIdentity{status.st_dev, status.st_ino, std::filesystem::read_symlink(link, error)};
}

// "START-END MODE OFFSET MAJOR:MINOR INODE   PATH"
bool is_line_of(std::string_view line, const FileIdentity& file) {
  const std::size_t slash = line.find('/');
  if (slash != std::string_view::npos && line.substr(slash) == file.path) return true;
  const std::vector<std::string_view> fields = pieces_of(line, ' ');
  constexpr std::size_t kDevice = 3, kInode = 4;
  if (fields.size() <= kInode) return false;
  char expected[32];
  std::snprintf(expected, sizeof expected, "%02x:%02x", major(file.device), minor(file.device));
  return fields[kDevice] == expected && fields[kInode] == std::to_string(file.inode);
}

}  // namespace

// Reads the line of status_of() without the heap.
bool is_last_thread() noexcept {
  char text[1024];
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = ::read(file, text, sizeof text);
  ::close(file);
  if (size <= 0) return false;
  std::string_view rest(text, static_cast<std::size_t>(size));
  rest.remove_prefix(std::min(rest.size(), rest.rfind(')') + 2));
  if (!rest.starts_with('Z')) return false;
  for (std::size_t field = 0; field < kThreads; ++field) {
    rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
  }
  return number_of(rest, 10) == 2;
}

ProcessIdentity this_process() {
  const std::optional<Status> status = status_of(kSelf);
  return {static_cast<std::uint64_t>(::getpid()), status ? status->start : 0, pid_namespace(),
          boot_id()};
}

Found look_for(const ProcessIdentity& process) {
  const bool known = process.boot != std::array<std::uint64_t, 2>{} && process.start != 0;
  const bool here = process.boot == boot_id() && process.pid_namespace == pid_namespace();
  if (!known || !here) return Found::kElsewhere;
  if (const auto status = status_of(std::to_string(process.id))) {
    return status->start == process.start && !has_ended(*status) ? Found::kYes : Found::kNo;
  }
  // A process of another user may be hidden.
  const bool there = ::kill(static_cast<pid_t>(process.id), 0) == 0 || errno == EPERM;
  return there ? Found::kYes : Found::kNo;
}

std::optional<bool> maps_file(const ProcessIdentity& process, const File& file) {
  const std::optional<FileIdentity> identity = identity_of(file);
  if (!identity) return std::nullopt;
  const std::string maps = read_file(file_of(std::to_string(process.id), "maps"));
  for (const std::string_view line : pieces_of(maps, '\n')) {
    if (is_line_of(line, *identity)) return true;
  }
  return maps.empty() ? std::nullopt : std::optional(false);
}

std::uint64_t start_of(std::uint64_t process) {
  const std::optional<Status> status = status_of(std::to_string(process));
  return status ? status->start : 0;
}

std::vector<std::vector<std::string>> command_lines_of_ancestors() {
  constexpr std::size_t kMost = 32;
  std::vector<std::vector<std::string>> lines;
  for (std::uint64_t id = parent_process_id(); id != 0 && lines.size() < kMost;) {
    const std::string process = std::to_string(id);
    lines.push_back(words_in(file_of(process, "cmdline")));
    const std::optional<Status> status = status_of(process);
    id = status ? status->parent : 0;
  }
  return lines;
}

std::optional<Ancestor> parent_of(const ProcessIdentity& process) {
  const std::optional<Status> status = status_of(std::to_string(process.id));
  if (!status || status->parent == 0) return std::nullopt;
  const std::string parent = std::to_string(status->parent);
  const std::optional<Status> found = status_of(parent);
  if (!found) return std::nullopt;
  Ancestor ancestor{process, {}, {}};
  ancestor.process.id = status->parent;
  ancestor.process.start = found->start;
  ancestor.name = read_file(file_of(parent, "comm"));
  if (ancestor.name.ends_with('\n')) ancestor.name.pop_back();
  const std::string environment = read_file(file_of(parent, "environ"));
  for (const std::string_view one : pieces_of(environment, '\0')) {
    ancestor.environment.emplace_back(one);
  }
  return ancestor;
}

std::uint64_t parent_process_id() noexcept { return static_cast<std::uint64_t>(::getppid()); }

}  // namespace timeloom::os
