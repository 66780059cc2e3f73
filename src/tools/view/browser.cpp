#include "tools/view/browser.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace timeloom::tools {

namespace {

const char* browser_variable(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

Browser::~Browser() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

bool Browser::is_there() {
  return browser_variable("BROWSER") != nullptr || browser_variable("DISPLAY") != nullptr ||
         browser_variable("WAYLAND_DISPLAY") != nullptr;
}

bool Browser::open(const std::string& address) {
  const char* directory = browser_variable("XDG_RUNTIME_DIR");
  std::string path =
      std::string(directory != nullptr ? directory : "/tmp") + "/timeloom-view-XXXXXX.html";
  const int descriptor = ::mkostemps(path.data(), 5, O_CLOEXEC);  // for this user alone
  if (descriptor < 0) return false;
  file_ = path;
  const std::string text =
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
      "content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=" +
      address + "\"><a href=\"" + address + "\">timeloom view</a>\n";
  const bool written =
      ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  if (!written) return false;

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  }
  const char* browser = browser_variable("BROWSER");
  std::string program = browser != nullptr ? browser : "xdg-open";
  const std::array<char*, 3> words = {program.data(), path.data(), nullptr};
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, program.c_str(), &actions, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0;
}

}  // namespace timeloom::tools
