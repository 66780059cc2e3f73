// The directory of a run for the files that are being written. The destructor removes it, even if
// it is damaged. REQUIRES: the run is locked. Used by one thread; throws as run::Directory does.
#pragma once

#include <exception>
#include <string>

#include "core/error.hpp"
#include "run/open_directory.hpp"

namespace timeloom::weave {

// Writers use a path of the directory that no rename can redirect (fixed_path()); messages use the
// path that the user knows.
inline Error with_known_path(const Error& error, const run::Directory& directory) {
  std::string message = error.what();
  const std::string fixed = directory.fixed_path();
  if (const auto at = message.find(fixed); at != std::string::npos) {
    message.replace(at, fixed.size(), directory.path());
  }
  return Error(message);
}

class WorkingDirectory {
 public:
  explicit WorkingDirectory(const run::Directory& run) : run_(run), directory_(make(run)) {}
  ~WorkingDirectory() {
    try {
      run_.remove(run::Item::kWorking);
    } catch (const std::exception&) {  // the next weave removes it
    }
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  const run::Directory& get() const noexcept { return directory_; }

 private:
  static run::Directory make(const run::Directory& run) {
    run.remove(run::Item::kWorking);  // of a weave that was interrupted
    return run.make_private_directory(run::Item::kWorking);
  }

  const run::Directory& run_;
  const run::Directory directory_;
};

}  // namespace timeloom::weave
