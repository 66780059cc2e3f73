// An open run directory, through which everything in a run is made, renamed and removed,
// by the names of the table in run/contents.hpp and relative to the open directory. So
// nothing outside the run can be reached: a symbolic link in place of an entry is itself
// removed or replaced, and never followed. The path of the run may be a link. A directory
// in place of a file is the user's: it is neither removed nor replaced. Functions throw
// std::system_error, and Error if such a directory is in the way. Owns a descriptor; movable;
// any thread may use a const object.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/known_directory.hpp"
#include "os/directory.hpp"
#include "run/contents.hpp"
#include "run/profile_name.hpp"

namespace timeloom::run {

class Directory {
 public:
  // Opens a directory that exists.
  explicit Directory(const std::filesystem::path& path);
  // The same for a known directory. Throws Error if another directory has taken its place.
  static Directory open(const KnownDirectory& known);
  // Takes over an open directory, which was opened under `path`.
  Directory(os::Directory directory, std::filesystem::path path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  // The path under which it was opened.
  const std::filesystem::path& path() const noexcept { return path_; }
  // A path for libraries that need one: it leads to the open directory, whatever is renamed, as
  // long as this object lives. On a system without /proc it is path().
  std::filesystem::path fixed_path() const;
  // The names of all entries, in no order.
  std::vector<std::string> names() const;
  bool empty() const { return names().empty(); }
  // The id of the user to whom it belongs.
  unsigned owner() const;
  // The directory in a form by which it can be opened again.
  KnownDirectory known() const { return {path_, directory_.id()}; }
  // Whether the path still leads to it. If the path's last name is a link, it does not.
  bool is_at_its_path() const;
  bool is_of_another_user() const { return directory_.is_of_another_user(); }
  bool is_open_to_all() const noexcept { return directory_.is_open_to_all(); }
  // Lets every user open entries by name, as far as their own modes allow, but not list them.
  void let_through() const;
  // Whether there is such an entry, even a link that leads nowhere.
  bool holds(Item item) const;

  // Makes a file with that text, or a directory into which nobody else can put anything.
  // Throws if an entry has the name already.
  void write(Item item, std::string_view text) const;
  os::File create(Item item) const;
  Directory make_private_directory(Item item) const;
  // Makes a directory with the usual mode, for callers that work with the directory itself.
  os::Directory make_plain_directory(Item item) const;
  // Opens a file for reading, or a directory. None: it does not exist, or it is a link.
  os::File open_file(Item item) const;
  std::optional<Directory> open_directory(Item item) const;
  // The same for callers that work with the directory itself. A closed object: none.
  os::Directory open_plain(Item item) const;

  // Moves or renames an entry; a file or link that has the name already is replaced.
  void move(Item item, const Directory& to, Item as) const;
  void rename_profile(const ProfileName& name) const;
  // Returns when the names of its entries are on the disk, as far as the file system does that.
  void sync() const;
  // Removes an entry, if there is one; a directory with everything in it.
  void remove(Item item) const;
  // Removes the directory with the events of an OTF2 trace, but not what else lies in it.
  void remove_event_files() const;
  // Removes the spools. They are renamed first, so that a part of them is never woven.
  void remove_spool() const;
  // Renames the directory of the spools to kWoven, so that no process can join any more. False: the
  // run has no spools.
  bool retire_spool() const;
  // Throws Error if remove_run() would, since a directory is in place of a file.
  void check_removable() const;
  // Removes everything that Timeloom has put into the run, and nothing else. The settings are
  // removed last, so that the rest of an interrupted removal is still known as a run.
  void remove_run() const;

  // Locks the run for weaving until this object is destroyed. False: it is locked already.
  bool try_lock() const noexcept { return directory_.try_lock() == 0; }
  // Whether another object has locked the run for weaving. REQUIRES: this object has not.
  bool is_locked() const noexcept { return directory_.is_locked(); }

 private:
  void check(int error, const char* what, Item item) const;
  void refuse_foreign(Item item) const;

  os::Directory directory_;
  std::filesystem::path path_;
};

}  // namespace timeloom::run
