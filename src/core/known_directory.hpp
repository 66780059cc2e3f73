// A directory that this process, or one that it starts, comes back to.
//
// Whoever may write where a directory lies can put another one or a link in its place at any time,
// and so lead what is written by a path to a file of the user. So a directory is known by its path
// and by what it is (its device and its number), and each use opens the path anew, compares, and
// goes on from the open directory. No descriptor is kept between two uses: the program that is
// measured may close all of them, and have a file of its own under the number; a child that was
// started by exec has none; and each would count for its limit.
//
// Numbers on other machines: a network file system has one number of a directory on all of them,
// but another device, which therefore counts on the same machine only. Numbers of layered and FUSE
// file systems last as long as the directory is in use; a process that records has files in its own
// open, which keeps all those above in use.
//
// Plain values; any thread. Errors are errno values (0: success); nothing throws but what memory
// can.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "os/directory.hpp"

namespace timeloom {

// In the environment of what a measured process starts: what the directory of the run is.
inline constexpr char kRunIdVariable[] = "TIMELOOM_RUN_ID";

// As DEVICE-NUMBER-BOOT, hexadecimal: for another process. Empty: it is not known.
std::string text_of(const os::DirectoryId& id);
// Not known where the text is none of text_of(); without the device on another machine.
os::DirectoryId directory_id_in(std::string_view text);

// ESTALE is an error of KnownDirectory; others are those of the system.
std::string reason_of(int error);

class KnownDirectory {
 public:
  KnownDirectory() = default;
  // With an id that is not known, whatever lies at the path.
  KnownDirectory(std::string path, os::DirectoryId id = {}) : path_(std::move(path)), id_(id) {}
  KnownDirectory(const std::filesystem::path& path, os::DirectoryId id = {})
      : KnownDirectory(path.string(), id) {}
  KnownDirectory(const char* path) : KnownDirectory(std::string(path)) {}

  const std::string& path() const noexcept { return path_; }
  const os::DirectoryId& id() const noexcept { return id_; }

  // ESTALE: another directory is at the path. try_lock() of it always fails.
  os::Directory open(int* error) const noexcept;
  // The same, to be listed and locked.
  os::Directory open_to_list(int* error) const noexcept;
  // The directory at the end of a way, which is known from here on. An error: it is not there.
  KnownDirectory below(const std::string& way, int* error) const;
  // The same, with each of its directories made where there is none. ESTALE: another user has made
  // one.
  KnownDirectory make_below(const std::string& way, int* error) const;
  // Makes a new directory that is of this user, as make_below() does. EEXIST: something has the
  // name.
  KnownDirectory make_new(const std::string& name, int* error) const;

  // Makes a file, which is opened again by its path where the program closes its descriptor.
  os::File create_file(const std::string& name, int* error) const;
  int remove_file(const std::string& name) const noexcept;

 private:
  os::Directory if_same(os::Directory directory, int* error) const noexcept;
  KnownDirectory known(const os::Directory& directory, const std::string& way, int* error) const;

  std::string path_;
  os::DirectoryId id_;
};

}  // namespace timeloom
