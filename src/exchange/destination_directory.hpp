// The directory that several files of a conversion go to. It stays the same one, whatever is put in
// the place of its path meanwhile. A link to it is followed, unless it is of another user, who
// would then have chosen where files are made and replaced.
//
// Any thread may use a const object. Throws Error with one line.
#pragma once

#include <string>

#include "exchange/destination.hpp"
#include "os/directory.hpp"

namespace timeloom::exchange {

class DestinationDirectory {
 public:
  explicit DestinationDirectory(std::string path);

  // Files by their names, which may lead through directories below. An absolute name is that of a
  // file elsewhere.
  std::string shown(const std::string& name) const;  // the path as the user knows it
  bool holds(const std::string& name) const;         // also a link that leads nowhere
  Destination open(const std::string& name, bool force) const;

 private:
  std::string path_;
  os::Directory directory_;  // not open: writing says why
};

}  // namespace timeloom::exchange
