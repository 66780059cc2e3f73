// The directory for the files of a conversion. It stays the same directory even if its path is
// replaced meanwhile. A link to it is followed unless it belongs to another user, who could
// otherwise choose where files are created and replaced.
//
// Any thread may use a const object. Throws Error with one line.
#pragma once

#include <string>

#include "exchange/destination.hpp"
#include "os/directory.hpp"
#include "os/resolved_path.hpp"

namespace timeloom::exchange {

// The place of a directory for output, which need not exist. Throws Error where a link of another
// user is on the way.
os::ResolvedPath place_of_directory(const std::string& path);

class DestinationDirectory {
 public:
  explicit DestinationDirectory(std::string path);

  // Files are given by name, which may lead through subdirectories. An absolute name is a file
  // elsewhere.
  std::string shown(const std::string& name) const;  // the path as the user knows it
  bool holds(const std::string& name) const;         // also a link that leads nowhere
  Destination open(const std::string& name, bool force) const;

 private:
  std::string path_;
  os::Directory directory_;  // not open: writing reports why
};

}  // namespace timeloom::exchange
