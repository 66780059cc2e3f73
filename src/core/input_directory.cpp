#include "core/input_directory.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace timeloom {

InputDirectory::InputDirectory(std::filesystem::path path) : path_(std::move(path)) {
  int error = 0;
  directory_ = os::Directory::open_unlisted(path_.string(), &error);
  if (error != 0)
    throw Error("cannot read " + path_.string() + ": " + std::strerror(error) + " [TL301]");
}

std::filesystem::path InputDirectory::fixed_path() const {
  const std::filesystem::path fixed = directory_.path_of_descriptor();
  return fixed.empty() ? path_ : fixed;
}

bool InputDirectory::holds_file(const std::string& way) const {
  int error = 0;
  return directory_.kind(way, &error) == os::EntryKind::kFile;
}

InputDirectory::File InputDirectory::open(const std::string& way, const std::string& remedy) const {
  int error = 0;
  const os::EntryKind kind = directory_.kind(way, &error);
  const std::string name = (path_ / way).string();
  if (error == 0 && kind == os::EntryKind::kOther) {
    throw Error(name + " is not a plain file, and links beside a trace are not followed [TL323]");
  }
  const os::File file = error == 0 ? directory_.open_file(way, &error) : os::File();
  const int descriptor = file.is_open() ? ::fcntl(file.fd(), F_DUPFD_CLOEXEC, 3) : -1;
  if (error == 0 && descriptor < 0) error = errno;
  if (error != 0)
    throw Error("cannot read " + name + ": " + std::strerror(error) + remedy + " [TL301]");
  return File(::fdopen(descriptor, "rb"));
}

}  // namespace timeloom
