// The directory of an archive that is read. Files in it and below it are opened without
// following links, so that an archive from a stranger cannot lead to files outside of it.
// The path of the directory itself may be a link.
//
// Owns a descriptor. Any thread may use a const object. A way is a path relative to the
// directory, as in os/directory.hpp.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "os/directory.hpp"

namespace timeloom {

class InputDirectory {
 public:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  // Throws Error.
  explicit InputDirectory(std::filesystem::path path);

  const std::filesystem::path& path() const noexcept { return path_; }
  // A path for libraries. It leads to this directory as long as this object lives, whatever is
  // renamed; on a system without /proc it is path().
  std::filesystem::path fixed_path() const;
  bool holds_file(const std::string& way) const;
  // Throws Error, with `remedy` at the end of its line.
  File open(const std::string& way, const std::string& remedy) const;

 private:
  std::filesystem::path path_;
  os::Directory directory_;
};

}  // namespace timeloom
