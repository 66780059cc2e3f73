#include "os/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>

namespace timeloom::os {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// The directory that contains the last name of a way, found by opening one directory after the
// other without following links. openat2() could do this at once, but not on every system.
class LastStep {
 public:
  LastStep(int directory, std::string_view way) noexcept : fd_(directory) {
    for (auto slash = way.find('/'); error_ == 0; slash = way.find('/')) {
      take(way.substr(0, slash));
      if (slash == std::string_view::npos) break;
      way.remove_prefix(slash + 1);
      if (error_ == 0) enter();
    }
  }
  ~LastStep() {
    if (ours_) ::close(fd_);
  }
  LastStep(const LastStep&) = delete;
  LastStep& operator=(const LastStep&) = delete;

  int error() const noexcept { return error_; }
  int directory() const noexcept { return fd_; }
  const char* name() const noexcept { return name_.data(); }

 private:
  void take(std::string_view name) noexcept {
    if (name.size() > NAME_MAX) error_ = ENAMETOOLONG;
    if (name.empty() || name == "." || name == ".." || name.find('\0') != name.npos)
      error_ = EINVAL;
    if (error_ != 0) return;
    name_[name.copy(name_.data(), name.size())] = '\0';
  }
  void enter() noexcept {
    const int next = ::openat(fd_, name_.data(), kOpenDirectory | O_NOFOLLOW);
    if (next < 0) error_ = errno;
    if (ours_) ::close(fd_);
    fd_ = next;
    ours_ = next >= 0;
  }

  int fd_;
  bool ours_ = false;
  int error_ = 0;
  std::array<char, NAME_MAX + 1> name_{};
};

// A name that no other process on any machine uses at the same moment.
std::array<char, 64> name_of_probe() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::array<char, 64> name{};
  ::snprintf(name.data(), name.size(), "probe-%ld-%lld-%09ld", static_cast<long>(::getpid()),
             static_cast<long long>(now.tv_sec), static_cast<long>(now.tv_nsec));
  return name;
}

// The attributes of a file that this process makes and removes again, to see what a new file gets;
// the inode is 0 if it cannot make one. The file has no name where the file system allows that.
struct stat probe(int directory) noexcept {
  struct stat made {};
  int file = ::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  const bool named = file < 0;
  const auto name = named ? name_of_probe() : std::array<char, 64>{};
  if (named) {
    file = ::openat(directory, name.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }
  if (file < 0) return made;
  if (::fstat(file, &made) != 0) made = {};
  ::close(file);
  if (named) ::unlinkat(directory, name.data(), 0);
  return made;
}

struct CloseStream {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

}  // namespace

Directory& Directory::operator=(Directory&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Directory::~Directory() {
  if (fd_ >= 0) ::close(fd_);
}

Directory Directory::open(const std::string& path, int* error) noexcept {
  const int fd = ::open(path.c_str(), kOpenDirectory);
  *error = fd >= 0 ? 0 : errno;
  return Directory(fd);
}

Directory Directory::open_unlisted(const std::string& path, int* error) noexcept {
  const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  *error = fd >= 0 ? 0 : errno;
  return Directory(fd);
}

Directory Directory::open_below(const std::string& way, int* error) const noexcept {
  const LastStep step(fd_, way);
  *error = step.error();
  if (*error != 0) return {};
  const int fd = ::openat(step.directory(), step.name(), kOpenDirectory | O_NOFOLLOW);
  *error = fd >= 0 ? 0 : errno;
  return Directory(fd);
}

std::string Directory::path_of_descriptor() const {
  std::string path = "/proc/self/fd/" + std::to_string(fd_);
  if (::access(path.c_str(), F_OK) != 0) path.clear();
  return path;
}

DirectoryId Directory::id() const noexcept {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

// A file system may give all new files to one user, or give all of them the same mode; so the
// directory is compared with a new file.
bool Directory::is_new_and_private() const {
  int error = 0;
  if (!names(&error).empty() || error != 0) return false;
  const struct stat made = probe(fd_);
  struct stat own {};
  const bool known = made.st_ino != 0 && ::fstat(fd_, &own) == 0;
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  return known && own.st_uid == made.st_uid && (own.st_mode & ~made.st_mode & kOthers) == 0;
}

bool Directory::is_of_another_user() const {
  struct stat own {};
  if (::fstat(fd_, &own) != 0) return true;
  if (own.st_uid == 0 || own.st_uid == ::geteuid()) return false;
  const struct stat made = probe(fd_);
  return made.st_ino == 0 || made.st_uid != own.st_uid;
}

bool Directory::is_open_to_all() const noexcept {
  struct stat own {};
  return ::fstat(fd_, &own) == 0 && (own.st_mode & S_IWOTH) != 0 && (own.st_mode & S_ISVTX) == 0;
}

unsigned Directory::owner(int* error) const noexcept {
  struct stat status {};
  *error = ::fstat(fd_, &status) == 0 ? 0 : errno;
  return status.st_uid;
}

bool Directory::is_at(const std::string& path) const noexcept {
  struct stat own {
  }, there{};
  return ::fstat(fd_, &own) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

int Directory::let_through() const noexcept {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return errno;
  const mode_t mode = (status.st_mode & 07777) | S_IXGRP | S_IXOTH;
  return ::fchmod(fd_, mode) == 0 ? 0 : errno;
}

int Directory::take_mode_of(const Directory& other) const noexcept {
  struct stat status {};
  if (::fstat(other.fd_, &status) != 0) return errno;
  return ::fchmod(fd_, status.st_mode & 07777) == 0 ? 0 : errno;
}

int Directory::give_to(unsigned user) const noexcept {
  return ::fchown(fd_, user, static_cast<gid_t>(-1)) == 0 ? 0 : errno;
}

std::vector<std::string> Directory::names(int* error) const {
  std::vector<std::string> result;
  // Opened again, since reading moves the position that copies of a descriptor share.
  const int fd = ::openat(fd_, ".", kOpenDirectory);
  const std::unique_ptr<DIR, CloseStream> stream(fd >= 0 ? ::fdopendir(fd) : nullptr);
  if (!stream) {
    *error = errno;
    if (fd >= 0) ::close(fd);
    return result;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") result.emplace_back(name);
    errno = 0;
  }
  *error = errno;
  return result;
}

std::optional<FileFacts> Directory::facts(const std::string& way) const noexcept {
  struct stat status {};
  const LastStep step(fd_, way);
  if (step.error() != 0 ||
      ::fstatat(step.directory(), step.name(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  return FileFacts{static_cast<std::uint64_t>(status.st_size),
                   std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

EntryKind Directory::kind(const std::string& way, int* error) const noexcept {
  struct stat status {};
  const LastStep step(fd_, way);
  *error = step.error();
  if (*error == 0 && ::fstatat(step.directory(), step.name(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    *error = errno;
  }
  if (*error == ENOENT) *error = 0;
  if (status.st_mode == 0) return EntryKind::kNone;
  if (S_ISREG(status.st_mode)) return EntryKind::kFile;
  return S_ISDIR(status.st_mode) ? EntryKind::kDirectory : EntryKind::kOther;
}

bool Directory::holds(const std::string& name, const File& file) const noexcept {
  struct stat own {
  }, there{};
  return ::fstat(file.fd(), &own) == 0 &&
         ::fstatat(fd_, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

int Directory::make_directory(const std::string& name, unsigned mode) const noexcept {
  return ::mkdirat(fd_, name.c_str(), mode) == 0 ? 0 : errno;
}

File Directory::create_file(const std::string& name, int* error) const noexcept {
  return File::create_exclusive_at(fd_, name, error);
}

File Directory::open_file(const std::string& way, int* error) const noexcept {
  const LastStep step(fd_, way);
  *error = step.error();
  return *error == 0 ? File::open_read_at(step.directory(), step.name(), error) : File();
}

File Directory::open_to_write(const std::string& name, int* error) const noexcept {
  File file = File::open_write_at(fd_, name, error);
  struct stat status {};
  if (*error == 0 && ::fstat(file.fd(), &status) != 0) *error = errno;
  if (*error == 0 && (!S_ISREG(status.st_mode) || status.st_nlink != 1)) *error = EINVAL;
  return *error == 0 ? std::move(file) : File();
}

int Directory::rename(const std::string& from, const Directory& to,
                      const std::string& name) const noexcept {
  return ::renameat(fd_, from.c_str(), to.fd_, name.c_str()) == 0 ? 0 : errno;
}

int Directory::rename_to_new(const std::string& from, const std::string& name) const noexcept {
  if (::renameat2(fd_, from.c_str(), fd_, name.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;
  // A file system without this call: an entry that gets the name just now is replaced, unless it is
  // a directory that is not empty.
  int error = 0;
  if (kind(name, &error) != EntryKind::kNone) return EEXIST;
  return error != 0 ? error : rename(from, *this, name);
}

int Directory::exchange(const std::string& one, const std::string& other) const noexcept {
  const char* const name = other.c_str();
  return ::renameat2(fd_, one.c_str(), fd_, name, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int Directory::link(const std::string& from, const std::string& name) const noexcept {
  return ::linkat(fd_, from.c_str(), fd_, name.c_str(), 0) == 0 ? 0 : errno;
}

int Directory::remove_directory(const std::string& name) const noexcept {
  return ::unlinkat(fd_, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

int Directory::sync() const noexcept {
  if (::fsync(fd_) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) return 0;
  return errno;
}

int Directory::remove_file(const std::string& name) const noexcept {
  if (::unlinkat(fd_, name.c_str(), 0) == 0 || errno == ENOENT) return 0;
  return errno;
}

int Directory::remove_all(const std::string& name) const {
  const int refused = remove_file(name);
  // A directory: EISDIR on Linux, EPERM where POSIX is followed to the letter.
  if (refused != EISDIR && refused != EPERM) return refused;
  int error = 0;
  {
    const Directory below = open_below(name, &error);
    if (error == ENOTDIR || error == ELOOP) return refused;  // it is not a directory
    if (error != 0) return error == ENOENT ? 0 : error;
    const std::vector<std::string> names = below.names(&error);
    for (std::size_t i = 0; error == 0 && i < names.size(); ++i) {
      error = below.remove_all(names[i]);
    }
  }
  if (error == 0) error = remove_directory(name);
  return error == ENOENT ? 0 : error;
}

int Directory::try_lock() const noexcept {
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return 0;
  return errno == EWOULDBLOCK || errno == EBADF ? errno : 0;
}

bool Directory::is_locked() const noexcept {
  if (::flock(fd_, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  static_cast<void>(::flock(fd_, LOCK_UN));
  return false;
}

}  // namespace timeloom::os
