#include "run/open_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>

#include "core/error.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_on_entry(const char* what, const fs::path& path, int error) {
  throw fs::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

// Of a location: "12.evt", "12.def" or "12.snap".
bool is_event_file(std::string_view name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view ending = name.substr(digits);
  return digits > 0 && (ending == ".evt" || ending == ".def" || ending == ".snap");
}

os::Directory open_path(const fs::path& path) {
  int error = 0;
  os::Directory directory = os::Directory::open(path.string(), &error);
  if (error != 0) fail_on_entry("cannot open", path, error);
  return directory;
}

}  // namespace

Directory::Directory(const fs::path& path) : Directory(open_path(path), path) {}

Directory Directory::open(const KnownDirectory& known) {
  int error = 0;
  os::Directory directory = known.open_to_list(&error);
  if (error == ESTALE) throw Error(known.path() + ": " + reason_of(error) + " [TL211]");
  if (error != 0) fail_on_entry("cannot open", known.path(), error);
  return Directory(std::move(directory), known.path());
}

void Directory::check(int error, const char* what, Item item) const {
  if (error != 0) fail_on_entry(what, path_ / entry(item).name, error);
}

std::vector<std::string> Directory::names() const {
  int error = 0;
  std::vector<std::string> names = directory_.names(&error);
  if (error != 0) fail_on_entry("cannot read", path_, error);
  return names;
}

unsigned Directory::owner() const {
  int error = 0;
  const unsigned owner = directory_.owner(&error);
  if (error != 0) fail_on_entry("cannot look at", path_, error);
  return owner;
}

bool Directory::is_at_its_path() const { return directory_.is_at(path_.string()); }

void Directory::let_through() const {
  if (const int error = directory_.let_through(); error != 0)
    fail_on_entry("cannot open", path_, error);
}

bool Directory::holds(Item item) const {
  int error = 0;
  const os::EntryKind kind = directory_.kind(name_of(item), &error);
  check(error, "cannot look at", item);
  return kind != os::EntryKind::kNone;
}

os::File Directory::create(Item item) const {
  int error = 0;
  os::File file = directory_.create_file(name_of(item), &error);
  check(error, "cannot create", item);
  return file;
}

void Directory::write(Item item, std::string_view text) const {
  const int error = create(item).write_at(0, std::as_bytes(std::span(text)));
  if (error != 0) remove(item);  // a part of it would be taken for the whole
  check(error, "cannot write", item);
}

// The owner of the run may put something else under the name at any time.
Directory Directory::make_private_directory(Item item) const {
  const std::string name = name_of(item);
  check(directory_.make_directory(name, 0700), "cannot create", item);
  int error = 0;
  os::Directory made = directory_.open_below(name, &error);
  if (error == 0 && !made.is_new_and_private()) error = EEXIST;
  check(error, "cannot open", item);
  return Directory(std::move(made), path_ / name);
}

os::Directory Directory::make_plain_directory(Item item) const {
  const std::string name = name_of(item);
  check(directory_.make_directory(name), "cannot create", item);
  int error = 0;
  os::Directory made = directory_.open_below(name, &error);
  check(error, "cannot open", item);
  return made;
}

fs::path Directory::fixed_path() const {
  const fs::path fixed = directory_.path_of_descriptor();
  return fixed.empty() ? path_ : fixed;
}

os::File Directory::open_file(Item item) const {
  int error = 0;
  const os::EntryKind kind = directory_.kind(name_of(item), &error);
  check(error, "cannot look at", item);
  if (kind != os::EntryKind::kFile) return {};
  os::File file = directory_.open_file(name_of(item), &error);
  check(error, "cannot open", item);
  return file;
}

os::Directory Directory::open_plain(Item item) const {
  int error = 0;
  os::Directory found = directory_.open_below(name_of(item), &error);
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) return {};
  check(error, "cannot open", item);
  return found;
}

std::optional<Directory> Directory::open_directory(Item item) const {
  os::Directory found = open_plain(item);
  if (!found.is_open()) return std::nullopt;
  return Directory(std::move(found), path_ / entry(item).name);
}

void Directory::sync() const {
  if (const int error = directory_.sync(); error != 0) fail_on_entry("cannot sync", path_, error);
}

void Directory::move(Item item, const Directory& to, Item as) const {
  check(directory_.rename(name_of(item), to.directory_, name_of(as)), "cannot rename", item);
}

void Directory::rename_profile(const ProfileName& name) const {
  check(directory_.rename(name_of(Item::kProfile), directory_, name.file()), "cannot rename",
        Item::kProfile);
}

// The directory of the spools, with the marks in it, belongs to the run as a whole.
void Directory::refuse_foreign(Item item) const {
  if (entry(item).kind == Kind::kDirectory || entry(item).role == Role::kMark) return;
  int error = 0;
  const os::EntryKind kind = directory_.kind(name_of(item), &error);
  check(error, "cannot look at", item);
  if (kind != os::EntryKind::kDirectory) return;
  throw Error((path_ / name_of(item)).string() +
              " is a directory that is not of the run; move it elsewhere [TL233]");
}

void Directory::remove(Item item) const {
  refuse_foreign(item);
  check(directory_.remove_all(name_of(item)), "cannot remove", item);
}

void Directory::remove_event_files() const {
  const os::Directory events = open_plain(Item::kTraceEvents);
  if (!events.is_open()) return remove(Item::kTraceEvents);
  int error = 0;
  for (const std::string& name : events.names(&error)) {
    if (is_event_file(name)) check(events.remove_file(name), "cannot clear", Item::kTraceEvents);
  }
  if (error == 0) error = directory_.remove_directory(name_of(Item::kTraceEvents));
  check(error == ENOTEMPTY || error == EEXIST ? 0 : error, "cannot remove", Item::kTraceEvents);
}

bool Directory::retire_spool() const {
  if (!holds(Item::kSpool)) return false;
  remove(Item::kWoven);
  move(Item::kSpool, *this, Item::kWoven);
  return true;
}

void Directory::remove_spool() const {
  if (retire_spool()) remove(Item::kWoven);
}

void Directory::check_removable() const {
  for (const Entry& entry : kContents) {
    if (entry.role != Role::kCopy) refuse_foreign(entry.item);
  }
}

void Directory::remove_run() const {
  check_removable();
  const auto remove_role = [this](Role role) {
    for (const Entry& entry : kContents) {
      if (entry.role == role) remove(entry.item);
    }
  };
  remove_role(Role::kLeftOver);
  remove_role(Role::kCache);
  std::for_each(kResults.rbegin(), kResults.rend(), [this](Item item) { remove(item); });
  remove_spool();
  remove_role(Role::kSettings);
}

}  // namespace timeloom::run
