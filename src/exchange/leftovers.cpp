#include "exchange/leftovers.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <charconv>
#include <exception>
#include <string>
#include <string_view>

namespace timeloom::exchange {

namespace {

// Matches nothing, or "-N".
bool is_number_of_part(std::string_view text) noexcept {
  return text.empty() || (text.size() > 1 && text.front() == '-' &&
                          text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// The process id in ".NAME.PID.part" or ".NAME.PID-N.part"; 0: the name has another form.
pid_t process_in(std::string_view entry, std::string_view name) noexcept {
  constexpr std::string_view kEnd = ".part";
  if (entry.size() <= name.size() + 2 + kEnd.size() || !entry.starts_with('.')) return 0;
  if (entry.substr(1, name.size()) != name || entry[1 + name.size()] != '.') return 0;
  if (!entry.ends_with(kEnd)) return 0;
  entry.remove_prefix(2 + name.size());
  entry.remove_suffix(kEnd.size());
  pid_t process = 0;
  const auto read = std::from_chars(entry.data(), entry.data() + entry.size(), process);
  const bool is_part = read.ec == std::errc() &&
                       is_number_of_part({read.ptr, entry.data() + entry.size()}) && process > 0;
  return is_part ? process : 0;
}

// An earlier process, or one in another container, may have had the number of this process. Files
// that this process is writing are locked.
bool may_be_left_by(pid_t process) noexcept {
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

void remove_if_left(int directory, const char* entry) noexcept {
  const int file = ::openat(directory, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat opened {
  }, there{};
  // The writer locks a file as soon as it has created it, and holds the lock until the temporary
  // name is gone.
  const bool left = ::fstat(file, &opened) == 0 && S_ISREG(opened.st_mode) &&
                    opened.st_uid == ::geteuid() && opened.st_nlink == 1 &&
                    ::flock(file, LOCK_EX | LOCK_NB) == 0 &&
                    ::fstatat(directory, entry, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                    there.st_ino == opened.st_ino && there.st_dev == opened.st_dev;
  if (left) ::unlinkat(directory, entry, 0);
  ::close(file);
}

}  // namespace

void remove_leftovers(const os::Directory& directory, const std::string& name) noexcept {
  try {
    int error = 0;
    for (const std::string& entry : directory.names(&error)) {
      const pid_t process = process_in(entry, name);
      if (process > 0 && may_be_left_by(process)) remove_if_left(directory.fd(), entry.c_str());
    }
  } catch (const std::exception&) {
    // Out of memory: the files stay.
  }
}

}  // namespace timeloom::exchange
