// Opens a page in the browser of the user, where there is one.
//
// Used by the main thread. Throws only std::bad_alloc.
#pragma once

#include <filesystem>
#include <string>

namespace timeloom::tools {

// Opens an address in the browser through a file of this user that forwards to it, since other
// users of the machine could read the address, with its token, on a command line. The destructor
// removes the file.
class Browser {
 public:
  Browser() = default;
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  // Whether there is a screen for a browser.
  static bool is_there();
  // False: it could not be started.
  bool open(const std::string& address);

 private:
  std::string file_;
};

}  // namespace timeloom::tools
