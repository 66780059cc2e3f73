// A directory that is opened more than once, by this process or by one that it starts.
//
// A user who may write to the parent of a directory can replace it by another directory or a link
// at any time, and so make this process overwrite a file of its own user. So a directory is known
// by its path and by its identity (device and inode): each use opens the path anew, compares the
// identity, and goes on from the open directory. No descriptor is kept between two uses: the
// measured program may close it and get its number for a file of its own, a child started by exec
// does not have it, and each would count for the program's limit.
//
// On other machines: a directory of a network file system has the same inode everywhere, but
// another device, so devices are compared on the same machine only. Layered and FUSE file systems
// keep an inode as long as the directory is in use; a process that records has open files in its
// spool, which keeps all directories above in use.
//
// Plain values; any thread. Errors are errno values (0: success); functions throw nothing but
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "os/directory.hpp"

namespace timeloom {

// In the environment of processes that a measured one starts: the identity of the run's directory.
inline constexpr char kRunIdVariable[] = "TIMELOOM_RUN_ID";

// The identity for another process, DEVICE-NUMBER-BOOT in hexadecimal. Empty: it is not known.
std::string text_of(const os::DirectoryId& id);
// The opposite. Not known if the text is malformed; without the device on another machine.
os::DirectoryId directory_id_in(std::string_view text);

// The text for an errno value; ESTALE has the meaning that it has in KnownDirectory.
std::string reason_of(int error);

class KnownDirectory {
 public:
  KnownDirectory() = default;
  // With an id that is not known, any directory at the path is accepted.
  KnownDirectory(std::string path, os::DirectoryId id = {}) : path_(std::move(path)), id_(id) {}
  KnownDirectory(const std::filesystem::path& path, os::DirectoryId id = {})
      : KnownDirectory(path.string(), id) {}
  KnownDirectory(const char* path) : KnownDirectory(std::string(path)) {}

  const std::string& path() const noexcept { return path_; }
  const os::DirectoryId& id() const noexcept { return id_; }

  // ESTALE: another directory is at the path. try_lock() of the result always fails.
  os::Directory open(int* error) const noexcept;
  // The same, to be listed and locked.
  os::Directory open_to_list(int* error) const noexcept;
  // The directory at the end of a way, with the identity that it has now. An error: there is none.
  KnownDirectory below(const std::string& way, int* error) const;
  // The same, and makes the directories of the way that are missing. ESTALE: another user has made
  // one of them.
  KnownDirectory make_below(const std::string& way, int* error) const;
  // Makes a new directory, owned by this user. EEXIST: an entry has the name already.
  KnownDirectory make_new(const std::string& name, int* error) const;

  // Makes a file, which is opened again by its path if the program closes its descriptor.
  os::File create_file(const std::string& name, int* error) const;
  int remove_file(const std::string& name) const noexcept;

 private:
  os::Directory if_same(os::Directory directory, int* error) const noexcept;
  KnownDirectory known(const os::Directory& directory, const std::string& way, int* error) const;

  std::string path_;
  os::DirectoryId id_;
};

}  // namespace timeloom
