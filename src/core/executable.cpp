#include "core/executable.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace timeloom {

bool is_executable(const char* path) noexcept {
  struct stat status {};
  return ::stat(path, &status) == 0 && S_ISREG(status.st_mode) && ::access(path, X_OK) == 0;
}

std::string find_executable(const std::string& name, OnPath directories) {
  if (name.find('/') != std::string::npos) return is_executable(name.c_str()) ? name : "";
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (directories == OnPath::kAbsolute && !candidate.starts_with('/')) continue;
    // An empty part is the current directory.
    if (!candidate.empty() && !candidate.ends_with('/')) candidate += '/';
    candidate += name;
    if (is_executable(candidate.c_str())) return candidate;
  }
  return {};
}

}  // namespace timeloom
