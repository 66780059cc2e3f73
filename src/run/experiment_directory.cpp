#include "run/experiment_directory.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <span>
#include <system_error>

#include "core/error.hpp"
#include "os/clock.hpp"
#include "run/run_directory.hpp"

namespace timeloom {
namespace fs = std::filesystem;
namespace {

constexpr char kWorkName[] = "scorep-measurement-tmp";
constexpr char kManifest[] = "MANIFEST.md";
constexpr char kSettingsName[] = "scorep.cfg";

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

bool being_written(const fs::path& directory) {
  int error = 0;
  const os::File manifest = os::File::open_read((directory / kManifest).string(), &error);
  return manifest.is_open() && manifest.in_use();
}

// Of canonical paths: whether the one is the other or lies in it.
bool holds(const fs::path& outer, const fs::path& inner) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
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

}  // namespace

ExperimentDirectory::ExperimentDirectory(const ScorepSettings& settings, InTheWay in_the_way,
                                         const fs::path& program)
    : in_the_way_(in_the_way),
      named_(!settings.text("SCOREP_EXPERIMENT_DIRECTORY").empty()),
      overwrite_(settings.flag("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY")) {
  const std::string chosen = settings.text("SCOREP_EXPERIMENT_DIRECTORY");
  path_ = (current_directory() / (named_ ? chosen : std::string(kWorkName))).lexically_normal();
  if (!path_.has_filename()) path_ = path_.parent_path();
  remember_homes(program);
  refuse_unusable();
}

void ExperimentDirectory::remember_homes(const fs::path& program) {
  const auto add = [&](const fs::path& path, const std::string& what) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (!error) homes_.push_back({canonical, what});
  };
  add(current_directory(), "the current directory");
  if (!program.empty()) {  // which may be a link to a file elsewhere
    add(program.parent_path(), "the directory of the program");
    add(program, "the program");
  }
  // To rename a link harms nothing that is reached without it.
  const char* home = std::getenv("HOME");
  std::error_code ignored;
  if (home != nullptr && !fs::is_symlink(path_, ignored)) add(home, "the home directory");
}

// What the user works in keeps its name: with it all paths into it would be gone.
void ExperimentDirectory::refuse_homes() const {
  std::error_code error;
  const fs::path target = fs::canonical(path_, error);
  if (error || !fs::is_directory(target, error)) return;
  for (const Home& home : homes_) {
    if (!holds(target, home.path)) continue;
    throw Error("the experiment directory cannot be " + path_.string() + ", which " +
                (target == home.path ? "is " : "holds ") + home.what + mend());
  }
}

std::string ExperimentDirectory::mend() const {
  return in_the_way_ == InTheWay::kAsScorepSays
             ? "; choose another with SCOREP_EXPERIMENT_DIRECTORY"
             : "; choose another with --output";
}

void ExperimentDirectory::fail(const fs::path& path, int error) const {
  throw Error("cannot write the experiment directory " + path.string() + ": " +
              std::strerror(error) + mend());
}

void ExperimentDirectory::refuse_unusable() const {
  refuse_homes();
  const fs::path parent = path_.parent_path();
  const bool there = ::access(parent.c_str(), F_OK) == 0;
  if (there && ::access(parent.c_str(), W_OK | X_OK) != 0) fail(path_, errno);
  if (in_the_way_ != InTheWay::kAsScorepSays) return refuse_as_output();
  if (!there) {
    throw Error("the directory " + parent.string() +
                " for the experiment directory does not exist; make it first");
  }
  refuse_as_scorep();
}

void ExperimentDirectory::refuse_as_scorep() const {
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

// As check_run_directory() does, for runs of either layout.
void ExperimentDirectory::refuse_as_output() const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(path_.string() + " exists and is no directory" + mend());
  if (fs::is_empty(path_, error)) return;
  if (error) fail(path_, error.value());
  if (!fs::is_regular_file(path_ / kSettingsName, error)) {
    throw Error(path_.string() + " exists and is no run" + mend());
  }
  if (in_the_way_ == InTheWay::kRefused) {
    throw Error("the run " + path_.string() +
                " exists; give it another name with --force or choose another with --output");
  }
  if (being_written(path_) || being_recorded(path_)) {
    throw Error("the program of the run " + path_.string() +
                " is still running; wait until it has ended or choose another with --output");
  }
}

void ExperimentDirectory::write_text(const fs::path& path, const std::string& text) const {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) fail(path, errno == 0 ? EIO : errno);
}

// A directory under a name of its own until everything is in it, so that two
// processes cannot take the same one for theirs.
fs::path ExperimentDirectory::make_hidden_directory() const {
  const fs::path parent = path_.parent_path();
  std::error_code error;
  if (in_the_way_ != InTheWay::kAsScorepSays) fs::create_directories(parent, error);
  if (error) fail(path_, error.value());
  std::string name = (parent / ".scorep-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail(parent, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(name.c_str(), 0755 & ~mask);
  return name;
}

void ExperimentDirectory::evade() {
  path_ += "." + std::to_string(::getpid());
  evaded_ = true;
}

// Gives what has the name another one.
void ExperimentDirectory::make_room() {
  refuse_unusable();
  if (in_the_way_ != InTheWay::kAsScorepSays && ::rmdir(path_.c_str()) == 0) return;  // empty
  if (being_written(path_)) return evade();
  const std::string failed = "scorep-failed-" + stamp(std::time(nullptr));
  const fs::path name = named_ ? fs::path(path_.string() + "-" + stamp(changed(path_)))
                               : path_.parent_path() / failed;
  const int error = rename_to_new(path_, name);
  if (error == 0) previous_ = name;
  if (error != 0 && error != ENOENT) fail(path_, error);
}

void ExperimentDirectory::create(const ScorepSettings& settings, const fs::path& filter) {
  const fs::path hidden = make_hidden_directory();
  try {
    int error = 0;
    manifest_ = os::File::create_exclusive((hidden / kManifest).string(), &error);
    if (error == 0) error = manifest_.mark_in_use();
    const std::string text = manifest_text(settings, !filter.empty());
    if (error == 0) error = manifest_.write_at(0, std::as_bytes(std::span(text)));
    if (error != 0) fail(path_, error);
    write_text(hidden / kSettingsName, settings.as_cfg());
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
