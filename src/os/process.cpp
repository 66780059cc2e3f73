#include "os/process.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

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

std::vector<std::string> command_line() {
  std::vector<std::string> words;
  std::istringstream file(read_text("/proc/self/cmdline"));
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string thread_name() {
  char name[16] = "";
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 ? name : std::string();
}

namespace {

constexpr char kSelf[] = "self";

std::string file_of(const std::string& process, const char* name) {
  return "/proc/" + process + "/" + name;
}

struct Status {
  char state = 0;
  std::uint64_t parent = 0;
  std::uint64_t threads = 0;
  std::uint64_t start = 0;
};

// None: there is no such process.
std::optional<Status> status_of(const std::string& process) {
  std::istringstream file(read_text(file_of(process, "stat")));
  std::string line;
  if (!std::getline(file, line, '\0')) return std::nullopt;
  // The name of the program comes second, in parentheses and with whatever is in it.
  std::istringstream rest(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  constexpr std::size_t kState = 0, kParent = 1, kThreads = 17, kStart = 19;  // from the third on
  if (fields.size() <= kStart) return std::nullopt;
  const auto number = [&](std::size_t i) { return std::strtoull(fields[i].c_str(), nullptr, 10); };
  return Status{fields[kState][0], number(kParent), number(kThreads), number(kStart)};
}

std::uint64_t pid_namespace() noexcept {
  struct stat status {};
  return ::stat(file_of(kSelf, "ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

std::array<std::uint64_t, 2> boot_id() {
  std::istringstream file(read_text("/proc/sys/kernel/random/boot_id"));
  std::string text;
  std::getline(file, text);
  std::erase(text, '-');
  constexpr std::size_t kDigits = 16;  // of 64 bits
  if (text.size() != 2 * kDigits) return {};
  return {std::strtoull(text.substr(0, kDigits).c_str(), nullptr, 16),
          std::strtoull(text.substr(kDigits).c_str(), nullptr, 16)};
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

// None: the system does not say.
std::optional<FileIdentity> identity_of(const File& file) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return std::nullopt;
  std::error_code error;
  const auto link = std::filesystem::path("/proc/self/fd") / std::to_string(file.fd());
  return FileIdentity{status.st_dev, status.st_ino, std::filesystem::read_symlink(link, error)};
}

// "START-END MODE OFFSET MAJOR:MINOR INODE   PATH"
bool is_line_of(const std::string& line, const FileIdentity& file) {
  std::istringstream text(line);
  std::string addresses, mode, offset, device, inode, path;
  text >> addresses >> mode >> offset >> device >> inode >> std::ws;
  std::getline(text, path);
  if (!path.empty() && path == file.path) return true;
  char expected[32];
  std::snprintf(expected, sizeof expected, "%02x:%02x", major(file.device), minor(file.device));
  return device == expected && inode == std::to_string(file.inode);
}

}  // namespace

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
  // A process of somebody else may be hidden.
  const bool there = ::kill(static_cast<pid_t>(process.id), 0) == 0 || errno == EPERM;
  return there ? Found::kYes : Found::kNo;
}

std::optional<bool> maps_file(const ProcessIdentity& process, const File& file) {
  const std::optional<FileIdentity> identity = identity_of(file);
  if (!identity) return std::nullopt;
  std::istringstream maps(read_text(file_of(std::to_string(process.id), "maps")));
  bool any = false;
  for (std::string line; std::getline(maps, line); any = true) {
    if (is_line_of(line, *identity)) return true;
  }
  return any ? std::optional(false) : std::nullopt;
}

std::uint64_t start_of(std::uint64_t process) {
  const std::optional<Status> status = status_of(std::to_string(process));
  return status ? status->start : 0;
}

std::optional<Ancestor> parent_of(const ProcessIdentity& process) {
  const std::optional<Status> status = status_of(std::to_string(process.id));
  if (!status || status->parent == 0) return std::nullopt;
  const std::string parent = std::to_string(status->parent);
  const std::optional<Status> found = status_of(parent);
  if (!found) return std::nullopt;
  Ancestor ancestor{process, {}, {}, {}};
  ancestor.process.id = status->parent;
  ancestor.process.start = found->start;
  std::istringstream name(read_text(file_of(parent, "comm")));
  std::getline(name, ancestor.name);
  std::error_code ignored;
  ancestor.directory = std::filesystem::read_symlink(file_of(parent, "cwd"), ignored).string();
  std::istringstream environment(read_text(file_of(parent, "environ")));
  for (std::string one; std::getline(environment, one, '\0');) {
    ancestor.environment.push_back(one);
  }
  return ancestor;
}

std::uint64_t parent_process_id() noexcept { return static_cast<std::uint64_t>(::getppid()); }

}  // namespace timeloom::os
