#include "python/launch/console_script.hpp"

#include <filesystem>
#include <fstream>

#include "core/executable.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

// pip writes "#!/bin/sh" and has the second line start Python where the path is too long or has
// blanks.
bool is_python_script(const std::string& path) {
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
  if (name.find('/') != std::string::npos || fs::exists(name, error)) return name;
  const std::string found = find_executable(name);
  return is_python_script(found) ? found : name;
}

}  // namespace timeloom::python
