#include "exchange/destination_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "exchange/format_text.hpp"

namespace timeloom::exchange {

namespace fs = std::filesystem;

bool is_behind_link_of_another(const os::Directory& directory, const std::string& path) {
  struct stat status {};
  if (directory.is_at(path)) return false;
  const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  return !is_link || (status.st_uid != 0 && status.st_uid != ::geteuid());
}

// A path that ends with a slash leads through a link.
DestinationDirectory::DestinationDirectory(std::string path)
    : path_((fs::path(std::move(path)) / "").parent_path()) {
  int unknown = 0;
  directory_ = os::Directory::open_unlisted(path_, &unknown);
  if (directory_.is_open() && is_behind_link_of_another(directory_, path_)) {
    throw Error(one_line(path_) + " is a link of another user; name another directory");
  }
}

std::string DestinationDirectory::shown(const std::string& name) const {
  const bool is_here = fs::path(name).is_absolute() || path_ == ".";
  return is_here ? name : (fs::path(path_) / name).string();
}

bool DestinationDirectory::holds(const std::string& name) const {
  std::error_code unknown;  // then it cannot be written, either
  if (fs::path(name).is_absolute()) return fs::exists(fs::symlink_status(name, unknown));
  int error = 0;
  return directory_.kind(name, &error) != os::EntryKind::kNone;
}

Destination DestinationDirectory::open(const std::string& name, bool force) const {
  const fs::path below = fs::path(name).parent_path();
  if (below.is_absolute()) return {name, force};
  int error = 0;
  const os::Directory between =
      below.empty() ? os::Directory() : directory_.open_below(below, &error);
  if (error != 0)
    throw Error("cannot write " + one_line(shown(name)) + ": " + std::strerror(error));
  const std::string directory = (below.empty() ? directory_ : between).path_of_descriptor();
  // Without /proc by the path.
  const fs::path path =
      directory.empty() ? fs::path(shown(name)) : fs::path(directory) / fs::path(name).filename();
  return {path, force, shown(name)};
}

}  // namespace timeloom::exchange
