#include "exchange/destination_directory.hpp"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "exchange/format_text.hpp"

namespace timeloom::exchange {

namespace fs = std::filesystem;

os::ResolvedPath place_of_directory(const std::string& path) {
  os::ResolvedPath place = os::resolve_path((fs::path(path) / "").parent_path());
  if (place.link.empty()) return place;
  throw Error(one_line(place.link) + " is a link of another user; name another directory [TL304]");
}

DestinationDirectory::DestinationDirectory(std::string path)
    : path_((fs::path(std::move(path)) / "").parent_path()) {
  int unknown = 0;
  directory_ = place_of_directory(path_).open_unlisted(&unknown);
}

std::string DestinationDirectory::shown(const std::string& name) const {
  const bool is_here = fs::path(name).is_absolute() || path_ == ".";
  return is_here ? name : (fs::path(path_) / name).string();
}

bool DestinationDirectory::holds(const std::string& name) const {
  std::error_code unknown;  // then writing fails, too
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
    throw Error("cannot write " + one_line(shown(name)) + ": " + std::strerror(error) + " [TL302]");
  const std::string directory = (below.empty() ? directory_ : between).path_of_descriptor();
  // Without /proc by the path.
  const fs::path path =
      directory.empty() ? fs::path(shown(name)) : fs::path(directory) / fs::path(name).filename();
  return {path, force, shown(name)};
}

}  // namespace timeloom::exchange
