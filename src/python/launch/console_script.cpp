#include "python/launch/console_script.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

// pip writes "#!/bin/sh" and has the second line start Python where the path is too long or has
// blanks.
bool is_python_script(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string first, second;
  if (!std::getline(file, first) || !first.starts_with("#!")) return false;
  if (first.find("python") != std::string::npos) return true;
  return first.starts_with("#!/bin/sh") && std::getline(file, second) &&
         second.starts_with("'''exec'") && second.find("python") != std::string::npos;
}

}  // namespace

std::string script_of(const std::string& name) {
  std::error_code error;
  const char* path = std::getenv("PATH");
  if (name.find('/') != std::string::npos || fs::exists(name, error) || path == nullptr) {
    return name;
  }
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, error)) {
      return is_python_script(candidate) ? candidate.string() : name;
    }
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return name;
}

}  // namespace timeloom::python
