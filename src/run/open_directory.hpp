// An open run directory. All that is removed, renamed or made in a run goes through it,
// by the names of the table in run/contents.hpp and relative to the open directory, so
// that nothing outside the run can be reached: a symbolic link in the place of an entry
// is removed or replaced itself and never followed. The path of the run may be a link.
// A directory in the place of a file is the user's: it is neither removed nor replaced.
// Functions throw std::system_error, and Error where such a directory is in the way. Movable; any
// thread may use a const object.
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
  // Opens the directory, which exists.
  explicit Directory(const std::filesystem::path& path);
  // The same, if it is still the one that is known. Throws Error where another is in its place.
  static Directory open(const KnownDirectory& known);
  // Takes an open one; `path` says where it is.
  Directory(os::Directory directory, std::filesystem::path path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  // The path under which it was opened.
  const std::filesystem::path& path() const noexcept { return path_; }
  // A path for libraries that want one: it leads to the open directory, whatever is renamed,
  // as long as this object lives. On a system without /proc it is path().
  std::filesystem::path fixed_path() const;
  // The names of all entries, in no order.
  std::vector<std::string> names() const;
  bool empty() const { return names().empty(); }
  // The number of the user to whom it belongs.
  unsigned owner() const;
  // What it is, for who comes back to it.
  KnownDirectory known() const { return {path_, directory_.id()}; }
  // Whether the path leads to it still, other than by a link that its last name stands for.
  bool is_at_its_path() const;
  bool is_of_another_user() const { return directory_.is_of_another_user(); }
  bool is_open_to_all() const noexcept { return directory_.is_open_to_all(); }
  // Everybody may open by its name what is in the run and lets him, but not list it.
  void let_through() const;
  // Whether an entry has the name, be it a link that leads nowhere.
  bool holds(Item item) const;

  // Makes a file with that text, or a directory into which nobody else can put anything.
  // Throws when something has the name.
  void write(Item item, std::string_view text) const;
  os::File create(Item item) const;
  Directory make_private_directory(Item item) const;
  // Makes a directory like any other, for what goes on with it itself.
  os::Directory make_plain_directory(Item item) const;
  // Opens a file for reading, or a directory. None: there is none, or a link to one.
  os::File open_file(Item item) const;
  std::optional<Directory> open_directory(Item item) const;
  // The same for what goes on with the directory itself. A closed one: none.
  os::Directory open_plain(Item item) const;

  // Gives an entry another place or name; a file or link that is there is replaced.
  void move(Item item, const Directory& to, Item as) const;
  void rename_profile(const ProfileName& name) const;
  // Removes an entry, if there is one; a directory of the run with all that is in it.
  void remove(Item item) const;
  // Removes what was recorded. Half of it must never be woven: it loses its name first.
  void remove_spool() const;
  // Renames the directory of the spools to kWoven, where no process joins any more. False: the run
  // has no spools.
  bool retire_spool() const;
  // Throws Error if remove_run() would: a directory is in the place of a file.
  void check_removable() const;
  // Removes all that Timeloom has put into the run, and nothing else. Its settings go
  // last, so that what an interruption leaves is known as a run and can be removed.
  void remove_run() const;

  // Whether this object is now the only one that weaves the run, until its destruction.
  bool try_lock() const noexcept { return directory_.try_lock() == 0; }
  // Whether another one weaves the run. REQUIRES: this object does not.
  bool is_locked() const noexcept { return directory_.is_locked(); }

 private:
  void check(int error, const char* what, Item item) const;
  void refuse_foreign(Item item) const;

  os::Directory directory_;
  std::filesystem::path path_;
};

}  // namespace timeloom::run
