#include "core/experiment_directory.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <span>
#include <system_error>

#include "core/error.hpp"
#include "core/run_directory.hpp"
#include "os/clock.hpp"

namespace timeloom {
namespace fs = std::filesystem;
namespace {

constexpr char kWorkName[] = "scorep-measurement-tmp";
constexpr char kManifest[] = "MANIFEST.md";
constexpr std::string_view kMend = "; choose another with SCOREP_EXPERIMENT_DIRECTORY";

std::string stamp(std::time_t time) {
  std::tm local{};
  localtime_r(&time, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d_%H%M", &local);
  return std::string(text.data()) + "_" + std::to_string(os::now());
}

std::time_t changed(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mtime : std::time(nullptr);
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error("cannot write the experiment directory " + path.string() + ": " +
              std::strerror(error) + std::string(kMend));
}

bool being_written(const fs::path& directory) {
  int error = 0;
  const os::File manifest = os::File::open_read((directory / kManifest).string(), &error);
  return manifest.is_open() && manifest.in_use();
}

// 0, or an errno value; EEXIST when `to` is there.
int rename_to_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;
  // A file system that cannot: an empty directory at the place is lost, no other.
  if (fs::exists(to)) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

constexpr char kAlways[] =
    "# Experiment directory overview\n\n"
    "The result directory of this measurement should contain the following files:\n\n"
    "   1. Files that should be present even if the measurement aborted:\n\n"
    "      * `MANIFEST.md`           This manifest file.\n"
    "      * `scorep.cfg`            Listing of used environment variables.\n";
constexpr char kFilter[] = "      * `scorep.filter`         Copy of the applied filter file.\n";
constexpr char kCreated[] =
    "\n   2. Files that will be created by subsystems of the measurement core:\n";
constexpr char kTrace[] =
    "\n      * Tracing:\n\n"
    "        * `traces.otf2`         OTF2 anchor file.\n"
    "        * `traces.def`          OTF2 global definitions file.\n"
    "        * `traces/`             Sub-directory containing per location trace\n"
    "                                data.\n";
constexpr char kProfile[] = "CUBE4 result file of the summary measurement.\n";
constexpr char kVariables[] =
    "\n# List of Score-P variables that were explicitly set for this measurement\n\n"
    "The complete list of Score-P variables used, incl. current default values,\n"
    "can be found in `scorep.cfg`.\n\n";

std::string manifest_text(const ScorepSettings& settings, bool filtered) {
  const bool trace = settings.flag("SCOREP_ENABLE_TRACING");
  const bool profile = writes_profile(settings);
  std::string text = kAlways;
  if (filtered) text += kFilter;
  if (trace || profile) text += kCreated;
  if (trace) text += kTrace;
  if (profile) {
    std::string name = "        * `" + settings.text("SCOREP_PROFILING_BASE_NAME") + ".cubex` ";
    name.resize(std::max<std::size_t>(name.size(), 32), ' ');
    text += "\n      * Profiling:\n\n" + name + kProfile;
  }
  text += kVariables;
  for (const std::string_view name : settings.explicitly_set()) {
    text += "    " + std::string(name) + "\n";
  }
  return text;
}

void write_text(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) fail(path, errno == 0 ? EIO : errno);
}

// A directory under a name of its own until everything is in it, so that two
// processes cannot take the same one for theirs.
fs::path make_hidden_directory(const fs::path& parent) {
  std::string name = (parent / ".scorep-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail(parent, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(name.c_str(), 0755 & ~mask);
  return name;
}

}  // namespace

ExperimentDirectory::ExperimentDirectory(const ScorepSettings& settings)
    : named_(!settings.text("SCOREP_EXPERIMENT_DIRECTORY").empty()),
      overwrite_(settings.flag("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY")) {
  const std::string chosen = settings.text("SCOREP_EXPERIMENT_DIRECTORY");
  path_ = (current_directory() / (named_ ? chosen : std::string(kWorkName))).lexically_normal();
  if (!path_.has_filename()) path_ = path_.parent_path();
  refuse_unusable();
}

void ExperimentDirectory::refuse_unusable() const {
  const fs::path parent = path_.parent_path();
  if (::access(parent.c_str(), F_OK) != 0) {
    throw Error("the directory " + parent.string() +
                " for the experiment directory does not exist; make it first");
  }
  if (::access(parent.c_str(), W_OK | X_OK) != 0) fail(path_, errno);
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    throw Error(
        "Experiment directory \"" + path_.string() +
        "\" exists but is not an directory. Choose another with SCOREP_EXPERIMENT_DIRECTORY");
  }
  if (named_ && !overwrite_) {
    throw Error("Experiment directory \"" + path_.string() +
                "\" exists and overwriting is disabled. Choose another with "
                "SCOREP_EXPERIMENT_DIRECTORY or set SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY=true");
  }
}

void ExperimentDirectory::evade() {
  path_ += "." + std::to_string(::getpid());
  evaded_ = true;
}

// Gives what has the name another one.
void ExperimentDirectory::make_room() {
  refuse_unusable();
  if (being_written(path_)) return evade();
  const std::string failed = "scorep-failed-" + stamp(std::time(nullptr));
  const fs::path name = named_ ? fs::path(path_.string() + "-" + stamp(changed(path_)))
                               : path_.parent_path() / failed;
  const int error = rename_to_new(path_, name);
  if (error == 0) previous_ = name;
  if (error != 0 && error != ENOENT) fail(path_, error);
}

void ExperimentDirectory::create(const ScorepSettings& settings, const fs::path& filter) {
  const fs::path hidden = make_hidden_directory(path_.parent_path());
  try {
    int error = 0;
    manifest_ = os::File::create_exclusive((hidden / kManifest).string(), &error);
    if (error == 0) error = manifest_.mark_in_use();
    const std::string text = manifest_text(settings, !filter.empty());
    if (error == 0) error = manifest_.write_at(0, std::as_bytes(std::span(text)));
    if (error != 0) fail(path_, error);
    write_text(hidden / "scorep.cfg", settings.as_cfg());
    // One that cannot be read is refused where it is read.
    std::error_code ignored;
    if (!filter.empty()) fs::copy_file(filter, hidden / "scorep.filter", ignored);
    while ((error = rename_to_new(hidden, path_)) == EEXIST) make_room();
    if (error != 0) fail(path_, error);
  } catch (const std::exception& what) {
    std::error_code ignored;
    fs::remove_all(hidden, ignored);
    throw Error(what.what());
  }
}

void ExperimentDirectory::finish() {
  manifest_.close();
  if (named_) return;
  const fs::path name = path_.parent_path() / ("scorep-" + stamp(std::time(nullptr)));
  const int error = rename_to_new(path_, name);
  if (error != 0) {
    throw Error("cannot rename " + path_.string() + ": " + std::strerror(error) +
                "; the results are in it");
  }
  path_ = name;
}

}  // namespace timeloom
