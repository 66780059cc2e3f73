#include "tools/report/code_owner.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/run_properties.hpp"

namespace timeloom::tools {

namespace {

namespace fs = std::filesystem;

// Directories of installed packages, wherever they are.
constexpr std::array<std::string_view, 2> kPackages = {"/site-packages/", "/dist-packages/"};
// Names of the directories of standard libraries, before the number of the version.
constexpr std::array<std::string_view, 2> kLibraries = {"/lib/python3", "/lib64/python3"};

std::string with_slash(std::string directory) {
  if (!directory.empty() && directory.back() != '/') directory += '/';
  return directory;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool contains_any(const std::string& text, const std::array<std::string_view, 2>& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

bool begins_with_any(const std::string& text, const std::vector<std::string>& directories) {
  return std::ranges::any_of(directories,
                             [&](const std::string& one) { return text.starts_with(one); });
}

// The directory of the script, as the first argument names it.
std::string script_directory(const Definitions& definitions, const std::string& directory) {
  if (definitions.groups.empty() || definitions.groups.front().arguments.empty()) return {};
  const std::string& script = definitions.groups.front().arguments.front();
  if (script.starts_with('-') || directory.empty()) return {};
  return (fs::path(directory) / script).lexically_normal().parent_path().string();
}

// The body of a module runs when it is imported.
Owner outside(const Region& region) {
  const bool body = region.group != "__main__" && region.name.ends_with("<module>");
  return body ? Owner::kImport : Owner::kLibrary;
}

std::string property(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  return found == definitions.properties.end() ? std::string() : found->second;
}

}  // namespace

std::string first_part(const std::string& dotted) { return dotted.substr(0, dotted.find('.')); }

CodeOwner::CodeOwner(const Definitions& definitions) : definitions_(&definitions) {
  const std::string directory = property(definitions, kProgramDirectory);
  for (const std::string& one : {directory, script_directory(definitions, directory)}) {
    if (!one.empty() && one != "/") projects_.push_back(with_slash(one));
  }
  for (const std::string& one : split(property(definitions, kLibraryDirectories), ':')) {
    libraries_.push_back(with_slash(one));
  }
  for (const Region& region : definitions.regions) owners_.push_back(owner_of(region));
}

bool CodeOwner::in_standard_library(const std::string& file) const {
  if (contains_any(file, kPackages)) return false;
  return file.starts_with("<frozen ") || contains_any(file, kLibraries) ||
         begins_with_any(file, libraries_);
}

bool CodeOwner::in_library(const std::string& file) const {
  return contains_any(file, kPackages) || in_standard_library(file);
}

Owner CodeOwner::owner_of(const Region& region) const {
  const std::string& file = region.file;
  if (file.starts_with("<frozen importlib") || file.starts_with("<frozen zipimport")) {
    return Owner::kImport;
  }
  if (region.role == RegionRole::kCode && region.paradigm == Paradigm::kUser) {
    return Owner::kProject;
  }
  // Of calls that a wrapper has seen, the file is the word for their library.
  if (region.paradigm == Paradigm::kIo || region.paradigm == Paradigm::kMpi ||
      region.paradigm == Paradigm::kPthread || region.paradigm == Paradigm::kOpenMp ||
      region.paradigm == Paradigm::kKokkos || region.paradigm == Paradigm::kMemory) {
    return Owner::kLibrary;
  }
  if (in_library(file)) return outside(region);
  // A function of C, code without a file, code that a library has made.
  if (file.empty()) {
    return region.paradigm == Paradigm::kUser ? Owner::kProject : Owner::kLibrary;
  }
  if (file.front() == '<') return region.group == "__main__" ? Owner::kProject : Owner::kLibrary;
  if (projects_.empty() || file.front() != '/') return Owner::kProject;
  return begins_with_any(file, projects_) ? Owner::kProject : outside(region);
}

std::string CodeOwner::package_of(RegionId id) const {
  if (!id.defined()) return {};
  const Region& region = definitions_->regions[id.value()];
  if (in_standard_library(region.file)) return "Python";
  for (const std::string_view mark : kPackages) {
    const std::size_t at = region.file.find(mark);
    if (at == std::string::npos) continue;
    const std::string inside = region.file.substr(at + mark.size());
    const std::size_t end = inside.find('/');
    return end == std::string::npos ? inside.substr(0, inside.rfind('.')) : inside.substr(0, end);
  }
  const std::string package = first_part(region.group);
  return package == "builtins" || package == "__main__" ? std::string() : package;
}

bool CodeOwner::adopt(const std::string& package) {
  bool adopted = false;
  for (std::uint32_t i = 0; i < owners_.size(); ++i) {
    const bool library = owners_[i] == Owner::kLibrary;
    if (!library || package_of(RegionId{i}) != package) continue;
    owners_[i] = Owner::kProject;
    adopted = true;
  }
  return adopted;
}

bool CodeOwner::adopt_program() {
  const auto& regions = definitions_->regions;
  const auto start = std::ranges::find_if(regions, [](const Region& one) {
    return one.group == "__main__" && one.name.ends_with("<module>");
  });
  if (start != regions.end() && in_library(start->file)) {
    const std::string package =
        package_of(RegionId{static_cast<std::uint32_t>(start - regions.begin())});
    if (package != "Python") adopt(package);
    return true;
  }
  if (start != regions.end() && start->file.find("/bin/") == std::string::npos) return true;
  const std::string package = property(*definitions_, kProgramPackage);
  return !package.empty() && adopt(package);
}

}  // namespace timeloom::tools
