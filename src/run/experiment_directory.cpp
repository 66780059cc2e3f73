#include "run/experiment_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <system_error>

#include "core/error.hpp"
#include "os/clock.hpp"
#include "os/read_file.hpp"
#include "os/resolved_path.hpp"
#include "run/manifest.hpp"
#include "run/open_directory.hpp"
#include "run/prepared_directory.hpp"
#include "run/run_directory.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr char kWorkName[] = "scorep-measurement-tmp";

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

// Whether a program, or a weave after its end, writes into it.
bool being_written(const fs::path& directory) {
  int error = 0;
  const os::Directory open = os::Directory::open_unlisted(directory.string(), &error);
  const os::File manifest = open.open_file(name_of(Item::kManifest), &error);
  return (manifest.is_open() && manifest.in_use()) || being_woven(directory);
}

// Whether, of two canonical paths, one is the other or lies in it.
bool holds(const fs::path& outer, const fs::path& inner) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

fs::path ExperimentDirectory::path_of(const ExperimentOptions& options) {
  const std::string& named = options.directory;
  fs::path path = (current_directory() / (named.empty() ? kWorkName : named)).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path += options.suffix;
}

ExperimentDirectory ExperimentDirectory::joined(ExperimentOptions options,
                                                const KnownDirectory& run) {
  ExperimentDirectory directory(std::move(options), run.path());
  directory.id_ = run.id();
  // The process that made the directory may end before this one.
  int error = 0;
  const os::Directory open = run.open(&error);
  const os::File manifest =
      error == 0 ? open.open_file(name_of(Item::kManifest), &error) : os::File();
  if (error == 0) directory.manifest_ = os::File::copy_of(manifest.fd(), &error);
  if (error == 0) static_cast<void>(directory.manifest_.mark_in_use());
  return directory;
}

ExperimentDirectory::ExperimentDirectory(ExperimentOptions options)
    : ExperimentDirectory(options, path_of(options)) {
  remember_homes();
  refuse_unusable();
}

void ExperimentDirectory::remember_homes() {
  const auto add = [&](const fs::path& path, const std::string& what) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (!error) homes_.push_back({canonical, what});
  };
  add(current_directory(), "the current directory");
  if (!options_.program.empty()) {  // which may be a link to a file elsewhere
    add(options_.program.parent_path(), "the directory of the program");
    add(options_.program, "the program");
  }
  // Renaming a link does not harm a directory that can be reached without it.
  const char* home = std::getenv("HOME");
  std::error_code ignored;
  if (home != nullptr && !fs::is_symlink(path_, ignored)) add(home, "the home directory");
}

// A directory in which the user works keeps its name, since paths into it would break.
void ExperimentDirectory::refuse_homes() const {
  std::error_code error;
  const fs::path target = fs::canonical(path_, error);
  if (error || !fs::is_directory(target, error)) return;
  for (const Home& home : homes_) {
    if (!holds(target, home.path)) continue;
    throw Error("the experiment directory cannot be " + path_.string() + ", which " +
                (target == home.path ? "is " : "holds ") + home.what + mend() + " [TL234]");
  }
}

std::string ExperimentDirectory::mend() const {
  return as_scorep() ? "; choose another with SCOREP_EXPERIMENT_DIRECTORY"
                     : "; choose another with --output";
}

void ExperimentDirectory::fail(const fs::path& path, int error) const {
  throw EnvironmentError("cannot write the experiment directory " + path.string() + ": " +
                         std::strerror(error) + mend() + " [TL220]");
}

void ExperimentDirectory::refuse_link_of_another(const std::string& link) const {
  if (!link.empty()) throw Error(link + " is a link of another user" + mend() + " [TL221]");
}

void ExperimentDirectory::refuse_unusable() const {
  refuse_homes();
  refuse_link_of_another(os::link_of_another_user(path_.string()));
  const fs::path parent = path_.parent_path();
  const bool there = ::access(parent.c_str(), F_OK) == 0;
  if (there && ::access(parent.c_str(), W_OK | X_OK) != 0) fail(path_, errno);
  if (!as_scorep()) return refuse_as_output();
  if (!there) {
    throw Error("the directory " + parent.string() +
                " for the experiment directory does not exist; make it first [TL235]");
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
  if (named() && !options_.overwrite) {
    throw DirectoryTaken(
        "Experiment directory \"" + path_.string() +
        "\" exists and overwriting is disabled. Choose another with "
        "SCOREP_EXPERIMENT_DIRECTORY or set SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY=true");
  }
}

// Like check_directory(), for runs of either layout.
void ExperimentDirectory::refuse_as_output() const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(path_.string() + " exists and is not a directory" + mend() + " [TL222]");
  if (fs::is_empty(path_, error)) return;
  if (error) fail(path_, error.value());
  if (is_aborted_start(Directory(path_))) return;
  if (!fs::is_regular_file(fs::symlink_status(path_ / name_of(Item::kSettings), error))) {
    throw Error(path_.string() + " exists and is not a run" + mend() + " [TL223]");
  }
  if (options_.in_the_way == InTheWay::kRefused) {
    throw Error(
        "the run " + path_.string() +
        " exists; give it another name with --force or choose another with --output [TL224]");
  }
  if (being_written(path_) || being_recorded(path_)) {
    throw Error(
        "the program of the run " + path_.string() +
        " is still running; wait until it has ended or choose another with --output [TL225]");
  }
}

os::Directory ExperimentDirectory::open_parent(bool makes) const {
  const std::string path = path_.parent_path().string();
  const os::ResolvedPath place = makes ? os::make_directories(path) : os::resolve_path(path);
  refuse_link_of_another(place.link);
  int error = 0;
  os::Directory parent = place.open_unlisted(&error);
  if (error != 0) fail(path, error);
  return parent;
}

std::string ExperimentDirectory::make_hidden_directory(const os::Directory& parent) const {
  for (;;) {
    std::string name = prepared_name();
    const int error = parent.make_directory(name);
    if (error == 0) return name;
    if (error != EEXIST) fail(path_.parent_path(), error);
  }
}

void ExperimentDirectory::evade() {
  path_ += "." + std::to_string(::getpid());
  evaded_ = true;
}

// Renames the directory that has the name.
void ExperimentDirectory::make_room(const os::Directory& parent) {
  refuse_unusable();
  const std::string taken = path_.filename().string();
  if (!as_scorep() && is_aborted_start(Directory(path_))) Directory(path_).remove_run();
  if (!as_scorep() && parent.remove_directory(taken) == 0) return;  // empty
  if (being_written(path_) || being_recorded(path_)) return evade();
  const std::string name =
      named() ? taken + "-" + stamp(changed(path_)) : "scorep-failed-" + stamp(std::time(nullptr));
  const int error = parent.rename_to_new(taken, name);
  if (error == 0) previous_ = path_.parent_path() / name;
  if (error != 0 && error != ENOENT) fail(path_, error);
}

void ExperimentDirectory::fill(const os::Directory& parent, const std::string& hidden) try {
  int error = 0;
  const Directory directory(parent.open_below(hidden, &error), path_.parent_path() / hidden);
  if (error == 0 && directory.is_of_another_user()) error = EEXIST;
  if (error != 0) fail(path_, error);
  id_ = directory.known().id();
  manifest_ = directory.create(Item::kManifest);
  error = manifest_.mark_in_use();
  const std::string manifest =
      experiment_manifest_text(options_) + std::string(unfinished_experiment_text());
  if (error == 0) error = manifest_.write_at(0, std::as_bytes(std::span(manifest)));
  if (error != 0) fail(path_, error);
  directory.write(Item::kSettings, options_.settings);
  // A file that cannot be read is refused by the code that reads it.
  std::error_code ignored;
  if (!fs::is_regular_file(options_.filter, ignored)) return;
  constexpr std::size_t kLargest = 64 << 20;  // a larger one is refused, too
  int failed = 0;
  const std::string filter = os::read_file(options_.filter, kLargest, &failed);
  if (failed == 0) directory.write(Item::kFilter, filter);
} catch (const std::system_error& error) {
  fail(path_, error.code().value());
}

void ExperimentDirectory::create() {
  const os::Directory parent = open_parent(!as_scorep());
  remove_abandoned(parent);
  const std::string hidden = make_hidden_directory(parent);
  try {
    fill(parent, hidden);
    int error = 0;
    while ((error = parent.rename_to_new(hidden, path_.filename().string())) == EEXIST) {
      make_room(parent);
    }
    if (error != 0) fail(path_, error);
  } catch (...) {
    remove_prepared(parent, hidden);
    throw;
  }
}

// Removes the text about an unfinished run. If that fails, the text stays true, as it has an "if".
void ExperimentDirectory::shorten_manifest(const os::Directory& directory) const {
  int error = 0;
  os::File manifest = directory.open_to_write(name_of(Item::kManifest), &error);
  const std::uint64_t size = manifest.is_open() ? manifest.size(&error) : 0;
  const std::string_view end = unfinished_experiment_text();
  if (error != 0 || size < end.size()) return;
  std::string text(end.size(), '\0');
  manifest.read_at(size - end.size(), std::as_writable_bytes(std::span(text)), &error);
  if (error == 0 && text == end) static_cast<void>(manifest.truncate(size - end.size()));
}

void ExperimentDirectory::finish() {
  const os::File marked = std::move(manifest_);  // until the directory has its name
  int error = 0;
  const os::Directory directory = KnownDirectory(path_, id_).open(&error);
  if (error == ESTALE) {
    throw Error(path_.string() +
                " now belongs to another run; this one was renamed meanwhile [TL236]");
  }
  if (error == 0) shorten_manifest(directory);
  // Another rank, which took itself for the last, may have renamed it.
  if (named() || !path_.filename().string().starts_with(kWorkName)) return;
  const std::string name = "scorep-" + stamp(std::time(nullptr)) + options_.suffix;
  error = open_parent().rename_to_new(path_.filename().string(), name);
  if (error != 0) {
    throw Error("cannot rename " + path_.string() + ": " + std::strerror(error) +
                "; the results are in it [TL237]");
  }
  path_.replace_filename(name);
}

}  // namespace timeloom::run
