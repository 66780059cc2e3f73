#include "tools/start/find_python.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/error.hpp"
#include "core/executable.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

// One place where pip puts packages: PREFIX/lib/python3.12/site-packages.
struct Site {
  fs::path packages;
  std::string python;  // "python3.12"
  fs::path prefix;
};

std::vector<fs::path> entries(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> result;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    result.push_back(entry.path());
  }
  std::ranges::sort(result);
  return result;
}

// An installed package has its files there, or a record of where they are.
bool has_timeloom(const fs::path& packages) {
  std::error_code error;
  if (fs::exists(packages / "timeloom" / "__main__.py", error)) return true;
  return std::ranges::any_of(entries(packages), [](const fs::path& entry) {
    return entry.filename().string().starts_with("timeloom-") && entry.extension() == ".dist-info";
  });
}

std::vector<Site> sites_of(const fs::path& prefix) {
  std::vector<Site> sites;
  for (const char* library : {"lib", "lib64"}) {
    for (const fs::path& directory : entries(prefix / library)) {
      const std::string name = directory.filename().string();
      if (!name.starts_with("python3.")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        if (has_timeloom(directory / packages))
          sites.push_back({directory / packages, name, prefix});
      }
    }
  }
  return sites;
}

// The program lies beside the interpreter, or in the package itself.
std::vector<Site> sites_around(const fs::path& executable) {
  const fs::path bin = executable.parent_path();
  const fs::path package = bin.parent_path();
  std::error_code error;
  if (!fs::exists(package / "__main__.py", error)) return sites_of(package);
  const fs::path packages = package.parent_path();
  const fs::path library = packages.parent_path();
  return {{packages, library.filename().string(), library.parent_path().parent_path()}};
}

std::string package_of(const Site& site) {
  std::error_code error;
  const fs::path package = site.packages / "timeloom";
  return fs::exists(package / "__main__.py", error) ? package.string() : std::string();
}

// The interpreter in PREFIX/bin. A prefix with several is known by its python3.
PythonChoice installed_python(const std::vector<Site>& sites) {
  std::error_code error;
  for (const Site& site : sites) {
    const fs::path bin = site.prefix / "bin";
    const std::string usual = fs::canonical(bin / "python3", error).filename().string();
    if (usual == site.python && is_executable((bin / "python3").c_str())) {
      return {(bin / "python3").string(), package_of(site), true};
    }
  }
  for (const Site& site : sites) {
    for (const std::string& name : {site.python, std::string("python3"), std::string("python")}) {
      const fs::path candidate = site.prefix / "bin" / name;
      if (is_executable(candidate.c_str())) return {candidate.string(), package_of(site), true};
    }
  }
  return {};
}

}  // namespace

PythonChoice find_python(const std::string& executable) {
  const std::vector<Site> sites = sites_around(executable);
  if (PythonChoice choice = installed_python(sites); !choice.program.empty()) return choice;
  if (const char* named = std::getenv("TIMELOOM_PYTHON"); named != nullptr && *named != '\0') {
    const std::string program = find_executable(named, OnPath::kAbsolute);
    if (!program.empty()) return {program, {}, false};
    throw Error("variable TIMELOOM_PYTHON: '" + std::string(named) +
                "' is not a program; name a Python in which Timeloom is installed [TL424]");
  }
  // Installed for one user, or in a prefix without an interpreter: the same version, elsewhere.
  for (const Site& site : sites) {
    if (const std::string program = find_executable(site.python, OnPath::kAbsolute);
        !program.empty())
      return {program, package_of(site), false};
  }
  if (const std::string program = find_executable("python3", OnPath::kAbsolute); !program.empty())
    return {program, {}, false};
  throw Error("no Python found; put python3 on PATH or name one in TIMELOOM_PYTHON [TL425]");
}

std::string own_executable() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

}  // namespace timeloom::tools
