// The directory of a spool that is read: an open directory above it, and the way from there.
// So no link inside a run is followed, and a run of many processes needs few descriptors.
//
// A value that is cheap to copy; any thread may use a const object. Errors are errno values.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "os/directory.hpp"

namespace timeloom::spool {

class SpoolDirectory {
 public:
  // The directory at the path, which may be a link. If it cannot be opened, open() and names()
  // fail with the same error.
  SpoolDirectory(const std::filesystem::path& path) : SpoolDirectory(path.string()) {}
  SpoolDirectory(const std::string& path) : path_(path) {
    auto own = std::make_shared<os::Directory>(os::Directory::open(path, &error_));
    above_ = std::move(own);
  }
  // Takes an open directory, which lies at `path`.
  SpoolDirectory(std::shared_ptr<const os::Directory> own, std::string path)
      : above_(std::move(own)), path_(std::move(path)) {}
  SpoolDirectory(const char* path) : SpoolDirectory(std::string(path)) {}
  // The directory `name` in `above`, whose path is `path`.
  SpoolDirectory(std::shared_ptr<const os::Directory> above, const std::filesystem::path& path,
                 const std::string& name)
      : above_(std::move(above)), name_(name), path_((path / name).string()) {}

  // For messages.
  const std::string& path() const noexcept { return path_; }
  std::string name() const { return std::filesystem::path(path_).filename(); }
  // The way to it from the directory that was open before.
  std::string way() const { return name_.empty() ? name() : name_; }

  // Opens a file in it for reading.
  os::File open(const std::string& file, int* error) const {
    *error = error_;
    return error_ == 0 ? above_->open_file(way_to(file), error) : os::File();
  }
  std::vector<std::string> names(int* error) const {
    *error = error_;
    if (error_ != 0) return {};
    if (name_.empty()) return above_->names(error);
    const os::Directory own = above_->open_below(name_, error);
    return *error == 0 ? own.names(error) : std::vector<std::string>();
  }

 private:
  std::string way_to(const std::string& file) const {
    return name_.empty() ? file : name_ + "/" + file;
  }

  std::shared_ptr<const os::Directory> above_;
  std::string name_;  // empty: the open directory itself
  std::string path_;
  int error_ = 0;
};

}  // namespace timeloom::spool
