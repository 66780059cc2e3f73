// Opens a page in the browser of the user, where there is one.
//
// Used by the main thread. Throws only std::bad_alloc.
#pragma once

#include <filesystem>
#include <string>

namespace timeloom::tools {

// Leads the browser to an address without showing it to other users of the machine, as a command
// line would: by a file of this user that forwards to it. The file goes with this object.
class Browser {
 public:
  Browser() = default;
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  // Whether there is a screen to open one on.
  static bool is_there();
  // False: it could not be started.
  bool open(const std::string& address);

 private:
  std::string file_;
};

}  // namespace timeloom::tools
