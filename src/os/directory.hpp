// An open directory, whose entries are looked at, made, renamed and removed by name,
// whatever happens to its path meanwhile. A *name* is one component of a path, without a
// separator. A *way* is a relative path: one or more names with slashes between, through
// directories below this one, never "." or "..". No function follows a symbolic link, at
// the end of a way or within it (ELOOP or ENOTDIR). Functions throw nothing but
// std::bad_alloc; errors are errno values (0: success). Owns a descriptor; movable; any
// thread may use a const object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/file.hpp"

namespace timeloom::os {

// The identity of a directory, which it keeps when it is renamed.
struct DirectoryId {
  std::uint64_t device = 0;  // 0: made on another machine, so the device is not compared
  std::uint64_t number = 0;  // inode; 0: not known

  bool known() const noexcept { return number != 0; }
  bool is_of(const DirectoryId& other) const noexcept {
    return number == other.number && (device == 0 || device == other.device);
  }
};

struct FileFacts {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;  // since 1970
};

enum class EntryKind : std::uint8_t { kNone, kFile, kDirectory, kOther };  // kOther: a link, too

class Directory {
 public:
  Directory() noexcept = default;
  Directory(Directory&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Directory& operator=(Directory&& other) noexcept;
  ~Directory();

  // Opens the directory at the path, which may be a link to it.
  static Directory open(const std::string& path, int* error) noexcept;
  // The same without the right to list it: names() may fail, and try_lock() always fails.
  static Directory open_unlisted(const std::string& path, int* error) noexcept;
  // Takes an open descriptor.
  static Directory of_descriptor(int fd) noexcept { return Directory(fd); }
  // Opens a directory below this one.
  Directory open_below(const std::string& way, int* error) const noexcept;

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  // Returns when its entries are on the disk, where the file system can do that.
  int sync() const noexcept;
  // A path for libraries that need one. It leads to this directory as long as that is open,
  // whatever is renamed. Empty: the system has no /proc.
  std::string path_of_descriptor() const;
  // Whether nobody but this user could have put anything into it: this user made it, only this
  // user may use it, and it is empty. The test leaves nothing behind.
  bool is_new_and_private() const;
  DirectoryId id() const noexcept;
  // Whether it belongs to a user whom this process has no reason to trust: not to this process's
  // user, not to the superuser, and not to the user to whom the file system gives all files made
  // there.
  bool is_of_another_user() const;
  // Whether every user may rename and remove its entries.
  bool is_open_to_all() const noexcept;
  // The user to whom it belongs.
  unsigned owner(int* error) const noexcept;
  // Whether the path leads to this directory. If its last name is a link, it does not.
  bool is_at(const std::string& path) const noexcept;
  // Lets every user open entries by name, as far as their own modes allow, but not list them.
  int let_through() const noexcept;
  int give_to(unsigned user) const noexcept;
  // Gives this directory the access mode of the other one.
  int take_mode_of(const Directory& other) const noexcept;
  // The names of all entries, in no order.
  std::vector<std::string> names(int* error) const;
  EntryKind kind(const std::string& way, int* error) const noexcept;
  // Whether the entry of that name is the open file.
  bool holds(const std::string& name, const File& file) const noexcept;
  // None: there is no such entry.
  std::optional<FileFacts> facts(const std::string& way) const noexcept;

  // Makes an entry. EEXIST: an entry has the name already, even a link that leads nowhere.
  int make_directory(const std::string& name, unsigned mode = 0777) const noexcept;
  File create_file(const std::string& name, int* error) const noexcept;
  // For reading. Does not wait for the other end of a FIFO.
  File open_file(const std::string& way, int* error) const noexcept;
  // For reading and writing. EINVAL: it is not a regular file, or it has other names as well and so
  // may be any file of the user.
  File open_to_write(const std::string& name, int* error) const noexcept;

  // Moves or renames an entry. A file, a link or an empty directory that has the name already
  // is replaced.
  int rename(const std::string& from, const Directory& to, const std::string& name) const noexcept;
  // The same in this directory; EEXIST when an entry has the name already.
  int rename_to_new(const std::string& from, const std::string& name) const noexcept;
  // Exchanges two entries, at once for everybody. ENOENT: one of them does not exist. EINVAL,
  // ENOSYS: the file system cannot do it.
  int exchange(const std::string& one, const std::string& other) const noexcept;
  // Gives a file a second name in this directory. EEXIST when an entry has the name already.
  int link(const std::string& from, const std::string& name) const noexcept;
  // Removes an entry that is not a directory; of a link, the link itself. EISDIR (EPERM on systems
  // that follow POSIX to the letter): it is a directory. Success if there is no such entry.
  int remove_file(const std::string& name) const noexcept;
  // Removes a directory that is empty.
  int remove_directory(const std::string& name) const noexcept;
  // Removes an entry with everything below it; of a link, the link itself. Success if there is
  // no such entry. On failure a part may have been removed.
  int remove_all(const std::string& name) const;

  // Locks the directory for this object until it is destroyed or the process ends.
  // EWOULDBLOCK: it is locked already. On a file system without locks this succeeds.
  int try_lock() const noexcept;
  // Whether somebody has locked it. Several may ask at once. REQUIRES: not locked by this object.
  bool is_locked() const noexcept;

 private:
  explicit Directory(int fd) noexcept : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace timeloom::os
