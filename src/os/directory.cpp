#include "os/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace timeloom::os {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

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

Directory Directory::open_below(const std::string& name, int* error) const noexcept {
  const int fd = ::openat(fd_, name.c_str(), kOpenDirectory | O_NOFOLLOW);
  *error = fd >= 0 ? 0 : errno;
  return Directory(fd);
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

EntryKind Directory::kind(const std::string& name, int* error) const noexcept {
  struct stat status {};
  *error = ::fstatat(fd_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
  if (*error == ENOENT)
    *error = 0;
  else if (*error != 0)
    return EntryKind::kNone;
  if (status.st_mode == 0) return EntryKind::kNone;
  if (S_ISREG(status.st_mode)) return EntryKind::kFile;
  return S_ISDIR(status.st_mode) ? EntryKind::kDirectory : EntryKind::kOther;
}

int Directory::make_directory(const std::string& name, unsigned mode) const noexcept {
  return ::mkdirat(fd_, name.c_str(), mode) == 0 ? 0 : errno;
}

File Directory::create_file(const std::string& name, int* error) const noexcept {
  return File::create_exclusive_at(fd_, name, error);
}

File Directory::open_file(const std::string& name, int* error) const noexcept {
  return File::open_read_at(fd_, name, error);
}

int Directory::rename(const std::string& from, const Directory& to,
                      const std::string& name) const noexcept {
  return ::renameat(fd_, from.c_str(), to.fd_, name.c_str()) == 0 ? 0 : errno;
}

int Directory::rename_to_new(const std::string& from, const std::string& name) const noexcept {
  if (::renameat2(fd_, from.c_str(), fd_, name.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;
  // A file system that cannot: what appears under the name just now is replaced if it is no
  // directory with something in it.
  int error = 0;
  if (kind(name, &error) != EntryKind::kNone) return EEXIST;
  return error != 0 ? error : rename(from, *this, name);
}

int Directory::remove_directory(const std::string& name) const noexcept {
  return ::unlinkat(fd_, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

int Directory::remove_all(const std::string& name) const {
  if (::unlinkat(fd_, name.c_str(), 0) == 0 || errno == ENOENT) return 0;
  // A directory: EISDIR on Linux, EPERM where POSIX is followed to the letter.
  const int refused = errno;
  if (refused != EISDIR && refused != EPERM) return refused;
  int error = 0;
  {
    const Directory below = open_below(name, &error);
    if (error == ENOTDIR || error == ELOOP) return refused;  // it is none
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

}  // namespace timeloom::os
