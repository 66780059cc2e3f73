#include "python/launch/console_script.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "core/executable.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

// All of a script of pip; empty: none that can be read without taking something from it.
std::string begin_of_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return {};
  std::array<char, 1 << 14> bytes;
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return {bytes.data(), size};
}

// pip writes "#!/bin/sh" and has the second line start Python where the path is too long or has
// blanks.
bool is_python_script(const std::string& text) {
  const std::size_t end = text.find('\n');
  const std::string first = text.substr(0, end);
  if (!first.starts_with("#!")) return false;
  if (first.find("python") != std::string::npos) return true;
  if (end == std::string::npos || !first.starts_with("#!/bin/sh")) return false;
  const std::string second = text.substr(end + 1, text.find('\n', end + 1) - end - 1);
  return second.starts_with("'''exec'") && second.find("python") != std::string::npos;
}

}  // namespace

std::string package_of_script(const std::string& path) {
  if (fs::path(path).parent_path().filename() != "bin") return {};
  const std::string text = begin_of_file(path);
  if (!is_python_script(text)) return {};
  constexpr std::string_view kFrom = "from ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kFrom) || line.find(" import ") == std::string::npos) continue;
    const std::string module = line.substr(kFrom.size());
    return module.substr(0, module.find_first_of(". "));
  }
  return {};
}

std::string script_of(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) return name;
  const bool is_program = fs::is_directory(name, error)
                              ? fs::exists(fs::path(name) / "__main__.py", error)
                              : fs::exists(name, error);
  if (is_program) return name;
  const std::string found = find_executable(name);
  return is_python_script(begin_of_file(found)) ? found : name;
}

}  // namespace timeloom::python
