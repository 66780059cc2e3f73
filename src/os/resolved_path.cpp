#include "os/resolved_path.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace timeloom::os {
namespace {

constexpr int kMostLinks = 40;  // as many as the kernel follows
// O_DIRECTORY makes an automounter mount the file system.
constexpr int kEnter = O_PATH | O_DIRECTORY | O_CLOEXEC;

// A link of the kernel (in /proc) leads to an open file, though its text may lead elsewhere.
bool is_of_the_kernel(int link) noexcept {
  struct statfs system {};
  return ::fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

std::string text_of_link(int link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

class Walk {
 public:
  Walk(const std::string& path, bool makes) : error_(path.empty() ? ENOENT : 0), makes_(makes) {
    if (error_ == 0) begin(path);
  }

  ResolvedPath end() && {
    while (error_ == 0 && !done_) step();
    if (error_ != 0) return {{}, {}, std::move(link_), false, error_};
    return {std::move(at_), std::move(name_), {}, made_last_, 0};
  }

 private:
  bool is_last() const noexcept { return left_.empty(); }

  // `way`: relative to the directory that has been reached, or to /.
  void begin(const std::string& way) {
    left_ = way;
    if (way.starts_with('/')) shown_ = "/";
    if (way.starts_with('/') || !at_.is_open()) enter(way.starts_with('/') ? "/" : ".", 0);
    take_slashes();
  }

  void take_slashes() { left_.erase(0, std::min(left_.find_first_not_of('/'), left_.size())); }

  void step() {
    if (is_last()) return stop(".");
    const std::size_t end = std::min(left_.find('/'), left_.size());
    const std::string name = left_.substr(0, end);
    left_.erase(0, end);
    take_slashes();
    if (name == ".") return;
    if (name == ".." || !is_last()) return pass(name);
    look(name);
  }

  void stop(std::string name) {
    name_ = std::move(name);
    done_ = true;
  }

  // A name that is not the last, or is empty.
  void pass(const std::string& name) {
    if (enter(name.c_str(), O_NOFOLLOW)) return show(name);
    if (std::exchange(error_, 0) == ENOENT && makes_ && make(name)) return pass(name);
    if (error_ == 0) follow(name);
  }

  // The last name.
  void look(const std::string& name) {
    struct stat status {};
    const int failed =
        ::fstatat(at_.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
    if (failed == ENOENT && makes_) {
      if (make(name)) look(name);
    } else if (failed == 0 && S_ISLNK(status.st_mode)) {
      follow(name);
    } else if (failed != 0 && failed != ENOENT) {
      error_ = failed;
    } else {
      stop(name);
    }
  }

  // False: the directory cannot be made.
  bool make(const std::string& name) {
    const int failed = at_.make_directory(name);
    if (failed != 0 && failed != EEXIST) error_ = failed;
    made_last_ = failed == 0 && is_last();
    if (++made_ > PATH_MAX) error_ = ELOOP;  // somebody removes it again and again
    return error_ == 0;
  }

  bool enter(const char* name, int how) noexcept {
    const int next = ::openat(at_.is_open() ? at_.fd() : AT_FDCWD, name, kEnter | how);
    if (next < 0) error_ = errno;
    if (next >= 0) at_ = Directory::of_descriptor(next);
    return next >= 0;
  }

  void show(const std::string& name) {
    if (!shown_.empty() && shown_ != "/") shown_ += '/';
    shown_ += name;
  }

  // Follows a name that is not a directory, or was not one just now.
  void follow(const std::string& name) {
    const Directory link =
        Directory::of_descriptor(::openat(at_.fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!link.is_open() || ::fstat(link.fd(), &status) != 0) {
      error_ = errno;
    } else if (!S_ISLNK(status.st_mode)) {
      error_ = is_last() ? 0 : ENOTDIR;
      stop(name);
    } else if (!is_trusted(status.st_uid)) {
      show(name);
      link_ = shown_;
      error_ = ELOOP;
    } else if (++links_ > kMostLinks) {
      error_ = ELOOP;
    } else if (!is_of_the_kernel(link.fd())) {
      go_on_at(text_of_link(link.fd()));
    } else {
      follow_kernel(name, text_of_link(link.fd()));
    }
  }

  void follow_kernel(const std::string& name, const std::string& text) {
    struct stat status {};
    const bool there = ::fstatat(at_.fd(), name.c_str(), &status, 0) == 0;
    if (!is_last()) {
      if (enter(name.c_str(), 0)) show(name);
    } else if (there && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
      go_on_at(text);
    } else {
      stop(name);  // a pipe or a device, whose text leads nowhere
    }
  }

  void go_on_at(const std::string& text) {
    if (text.empty()) {
      error_ = ENOENT;
    } else {
      begin(is_last() ? text : text + "/" + left_);
    }
  }

  Directory at_;
  std::string left_;   // of the path, without a slash at its start
  std::string shown_;  // the path so far
  std::string name_;
  std::string link_;
  int error_;
  int links_ = 0;
  int made_ = 0;
  bool makes_;
  bool made_last_ = false;
  bool done_ = false;
};

Directory open_at(const ResolvedPath& resolved, int how, int* error) noexcept {
  if (resolved.error != 0) {
    *error = resolved.error;
    return {};
  }
  const int fd = ::openat(resolved.directory.fd(), resolved.name.c_str(),
                          how | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  *error = fd >= 0 ? 0 : errno;
  return Directory::of_descriptor(fd);
}

}  // namespace

Directory ResolvedPath::open(int* failed) const noexcept {
  return open_at(*this, O_RDONLY, failed);
}

Directory ResolvedPath::open_unlisted(int* failed) const noexcept {
  return open_at(*this, O_PATH, failed);
}

bool is_trusted(unsigned user) noexcept {
  struct stat root {};
  return user == 0 || user == ::geteuid() || (::stat("/", &root) == 0 && user == root.st_uid);
}

ResolvedPath resolve_path(const std::string& path) { return Walk(path, false).end(); }

ResolvedPath make_directories(const std::string& path) { return Walk(path, true).end(); }

std::string link_of_another_user(const std::string& path) { return resolve_path(path).link; }

}  // namespace timeloom::os
