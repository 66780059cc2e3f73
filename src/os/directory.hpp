// An open directory: a place whose entries are looked at, made, renamed and
// removed by name, whatever becomes of its path meanwhile. A name is one component
// of a path, without a separator; a way is one or more of them with a slash between,
// through directories below this one, and never "." or "..". No function follows a
// symbolic link that a name stands for, be it in the midst of a way (ELOOP or ENOTDIR).
// Nothing here throws but what memory can; errors are errno values
// (0: success). Movable; any thread may use a const object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/file.hpp"

namespace timeloom::os {

// What a directory is, whatever its name.
struct DirectoryId {
  std::uint64_t device = 0;  // 0: that of another machine, which does not count
  std::uint64_t number = 0;  // 0: it is not known

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

  // Opens the directory of that path, which may be a link to it.
  static Directory open(const std::string& path, int* error) noexcept;
  // The same for one that may not be listed: names() fails then, try_lock() always.
  static Directory open_unlisted(const std::string& path, int* error) noexcept;
  // Takes an open descriptor.
  static Directory of_descriptor(int fd) noexcept { return Directory(fd); }
  // Opens a directory below this one.
  Directory open_below(const std::string& way, int* error) const noexcept;

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  // A path for libraries that want one, which leads to this directory as long as it is open,
  // whatever is renamed. Empty: the system has none, for want of /proc.
  std::string path_of_descriptor() const;
  // Whether nobody but this user could have put anything into it: it was made by this user, for
  // this user alone, and is empty. The question leaves no trace.
  bool is_new_and_private() const;
  DirectoryId id() const noexcept;
  // Whether it belongs to a user whom this process has no reason to trust: neither to its own nor
  // to the superuser, nor to the one who gets all files that are made there.
  bool is_of_another_user() const;
  // Whether every user may rename and remove what is in it.
  bool is_open_to_all() const noexcept;
  // The user to whom it belongs.
  unsigned owner(int* error) const noexcept;
  // Whether the path leads to this directory, other than by a link that its last name stands for.
  bool is_at(const std::string& path) const noexcept;
  // Everybody may open by its name what is in it and lets him, but not list it.
  int let_through() const noexcept;
  int give_to(unsigned user) const noexcept;
  // Those who may use the other one may use this one so.
  int take_mode_of(const Directory& other) const noexcept;
  // The names of all entries, in no order.
  std::vector<std::string> names(int* error) const;
  EntryKind kind(const std::string& way, int* error) const noexcept;
  // Whether the name is that of the open file.
  bool holds(const std::string& name, const File& file) const noexcept;
  // None: there is nothing of that name.
  std::optional<FileFacts> facts(const std::string& way) const noexcept;

  // Makes an entry. EEXIST: something has the name, be it a link that leads nowhere.
  int make_directory(const std::string& name, unsigned mode = 0777) const noexcept;
  File create_file(const std::string& name, int* error) const noexcept;
  // For reading. A FIFO does not keep it waiting.
  File open_file(const std::string& way, int* error) const noexcept;
  // For reading and writing. EINVAL: it is no file, or has other names as well, and so may be any
  // file of the user.
  File open_to_write(const std::string& name, int* error) const noexcept;

  // Gives an entry another place or name. A file, a link or an empty directory that
  // has the name already is replaced.
  int rename(const std::string& from, const Directory& to, const std::string& name) const noexcept;
  // The same in this directory; EEXIST when something has the name.
  int rename_to_new(const std::string& from, const std::string& name) const noexcept;
  // Gives a file a second name in this directory. EEXIST when something has it.
  int link(const std::string& from, const std::string& name) const noexcept;
  // Removes an entry that is no directory; a link, not what it points to. EISDIR (where POSIX is
  // followed to the letter, EPERM): it is one. Success where there is none.
  int remove_file(const std::string& name) const noexcept;
  // Removes a directory that is empty.
  int remove_directory(const std::string& name) const noexcept;
  // Removes an entry with all that is below it; a link, not what it points to. Success
  // where there is none. On failure some of it may be gone.
  int remove_all(const std::string& name) const;

  // Locks the directory for this object until it is destroyed or the process ends.
  // EWOULDBLOCK: it is locked already. A file system without locks grants it.
  int try_lock() const noexcept;
  // Whether somebody has locked it. Several may ask at once. REQUIRES: not locked by this object.
  bool is_locked() const noexcept;

 private:
  explicit Directory(int fd) noexcept : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace timeloom::os
