#include "os/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace timeloom::os {

std::string hostname() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string executable() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

std::vector<std::string> command_line() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string thread_name() {
  char name[16] = "";
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 ? name : std::string();
}

std::uint64_t parent_process_id() noexcept { return static_cast<std::uint64_t>(::getppid()); }

}  // namespace timeloom::os
