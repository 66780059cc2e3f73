#include "weave/run_contents.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/packed/packed.hpp"
#include "run/contents.hpp"
#include "run/spools.hpp"
#include "spool/reader.hpp"
#include "spool/spool_format.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWhatToName = "name the directory of a run, an .otf2 or a .cubex file";

using run::Item;

fs::path path_of(const fs::path& run, Item item) { return run / run::entry(item).name; }

// Links inside a run are not followed, and none counts as an entry.
bool is_there(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  return fs::exists(status) && !fs::is_symlink(status);
}

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

bool holds(const fs::path& run, Item item) { return is_there(path_of(run, item)); }

// Empty: `path` is not a directory, or may not be read.
std::optional<run::Directory> open(const fs::path& run) {
  try {
    return run::Directory(run);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

bool has_spools(const fs::path& path) {
  const std::optional<run::Directory> run = open(path);
  return run && !spools_of(*run).empty();
}

// The files of a directory with this extension, in order.
std::vector<fs::path> files_with(const fs::path& directory, const char* extension) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != extension || !is_plain_file(entry.path())) continue;
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The only file, whatever its name; empty: there is none, or there are several.
fs::path only_file(const fs::path& directory, const char* extension) {
  std::vector<fs::path> found = files_with(directory, extension);
  return found.size() == 1 ? std::move(found.front()) : fs::path();
}

// The CUBE profile of the run. The file with the usual name takes precedence over others, such as
// files that CUBE's tools write beside it. Empty: there is none, or there are only several others.
fs::path find_profile(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error)) return run.extension() == ".cubex" ? run : fs::path();
  const fs::path profile = path_of(run, Item::kProfile);
  if (is_plain_file(profile)) return profile;
  return only_file(run, ".cubex");
}

// A folder called spool is not sufficient: source trees have one as well.
bool is_run(const fs::path& directory) {
  return holds(directory, Item::kAnchor) || holds(directory, Item::kPacked) ||
         has_spools(directory) || !only_file(directory, ".otf2").empty() ||
         !find_profile(directory).empty();
}

void refuse_several_profiles(const fs::path& directory) {
  const std::vector<fs::path> profiles = files_with(directory, ".cubex");
  if (profiles.size() < 2) return;
  throw Error(directory.string() + " holds several profiles, and none is called " +
              run::name_of(Item::kProfile) + "; name one of them, such as " +
              profiles.front().string() + " [TL208]");
}

std::optional<std::uint64_t> earliest(std::optional<std::uint64_t> one,
                                      std::optional<std::uint64_t> other) {
  return one && other ? std::min(one, other) : (one ? one : other);
}

// The time at which the directory of the spools was created or a process last joined it, by the
// clock of the day.
std::optional<std::uint64_t> time_of_spools(const fs::path& run) {
  struct stat status {};
  if (::lstat(path_of(run, Item::kSpool).c_str(), &status) != 0) return std::nullopt;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kSecond +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

// The start of the first process of an unfinished run. A process that was killed before it wrote
// the time must not count as an old one.
std::optional<std::uint64_t> begin_of_spools(const run::Directory& run) {
  std::optional<std::uint64_t> begin;
  for (const spool::SpoolDirectory& spool : spools_of(run)) {
    int error = 0;
    const os::File defs = spool.open(kDefsName, &error);
    if (!defs.is_open()) continue;
    spool::ProcessDefinitions definitions;
    spool::Damage ignored;
    spool::parse_definitions(defs, definitions, ignored);
    for (const os::ClockSync& sync : definitions.clock_syncs) {
      begin = earliest(begin, sync.realtime_ns);
    }
  }
  return begin ? begin : time_of_spools(run.path());
}

// Of a run that cannot be read, which must not make an older one the newest: when the last of its
// files was made, as far as its directory tells.
std::uint64_t change_of(const fs::path& run) {
  struct stat status {};
  if (::stat(run.c_str(), &status) != 0) return 0;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kSecond +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

// The recorded start of a run, in nanoseconds since 1970; 0: not recorded.
std::uint64_t begin_of(const run::Directory& run) try {
  const fs::path& path = run.path();
  std::optional<std::uint64_t> begin;
  if (unfinished(path)) {
    begin = begin_of_spools(run);
  } else if (has_profile(path)) {
    begin = cube::definitions_of(cube::Reader(profile_of(path))).clock.realtime;
  }
  if (!begin && has_trace(path)) begin = open_trace(trace_of(path))->definitions().clock.realtime;
  return begin.value_or(0);
} catch (const Error&) {
  return change_of(run.path());
}

// The run in the directory that was changed last. The directory itself is not a run, and all its
// runs belong to one session of tests. Empty: there is none.
std::optional<fs::path> last_run_in(const fs::path& session) {
  std::optional<std::pair<fs::file_time_type, fs::path>> last;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(session, error)) {
    if (!entry.is_directory(error) || entry.is_symlink(error) || !is_run(entry.path())) continue;
    last = std::max(last, std::optional(std::pair(entry.last_write_time(error), entry.path())));
  }
  return last ? std::optional(last->second) : std::nullopt;
}

// timeloom.pytest_plugin names the directory of a session so.
constexpr std::string_view kSessionName = "timeloom-pytest-";

std::optional<fs::path> run_at(const fs::path& path) {
  if (is_run(path)) return path;
  const bool session = path.filename().string().starts_with(kSessionName);
  return session ? last_run_in(path) : std::nullopt;
}

// The runs of this user; all runs if this user has none.
std::vector<run::Directory> candidates() {
  std::vector<run::Directory> own;
  std::vector<run::Directory> others;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    if (!entry.is_directory(error)) continue;
    const std::optional<fs::path> path = run_at(entry.path());
    std::optional<run::Directory> run = path ? open(path->lexically_normal()) : std::nullopt;
    if (!run) continue;
    (run->owner() == ::geteuid() ? own : others).push_back(std::move(*run));
  }
  return own.empty() ? std::move(others) : std::move(own);
}

// The newest directory of this user in this one that has the files of a trace without its anchor,
// and nothing else to open, with its time.
std::pair<std::uint64_t, fs::path> newest_rest() {
  std::pair<std::uint64_t, fs::path> newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    const fs::path path = entry.path().lexically_normal();
    if (!holds(path, Item::kTraceDefinitions) || !holds(path, Item::kTraceEvents)) continue;
    const std::optional<run::Directory> rest = is_run(path) ? std::nullopt : open(path);
    if (!rest || rest->owner() != ::geteuid()) continue;
    newest = std::max(newest, std::pair(change_of(path), path));
  }
  return newest;
}

fs::path newest_run() {
  const std::vector<run::Directory> runs = candidates();
  if (runs.empty()) {
    throw Error(
        "there is no run in this directory; name one, or make one: timeloom run script.py [TL201]");
  }
  // The time recorded inside the run, which a copy or touch does not change. Names decide between
  // runs that started at the same time, or have no recorded time.
  std::pair<std::uint64_t, fs::path> newest;
  const auto [time, rest] = newest_rest();
  const bool several = runs.size() > 1 || !rest.empty();
  for (const run::Directory& run : runs) {
    newest = std::max(newest, std::pair(several ? begin_of(run) : 0, run.path()));
  }
  if (!rest.empty() && time > newest.first) {
    throw Error(rest.string() + " is newer than " + newest.second.string() + ", but its " +
                run::name_of(Item::kAnchor) + " is missing; name a run [TL170]");
  }
  return newest.second;
}

}  // namespace

std::string other_owner(const fs::path& run) {
  struct stat status {};
  if (::stat(run.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return {};
  const passwd* user = ::getpwuid(status.st_uid);
  return user != nullptr ? user->pw_name : "user " + std::to_string(status.st_uid);
}

namespace {

std::vector<spool::SpoolDirectory> spools_in(const run::Directory& run, Item item) {
  std::vector<spool::SpoolDirectory> result;
  int error = 0;
  const auto spools = std::make_shared<const os::Directory>(run.open_plain(item));
  if (!spools->is_open()) return result;
  for (const std::string& name : run::spools_in(*spools, &error)) {
    const os::EntryKind defs = spools->kind(name + "/" + kDefsName, &error);
    if (defs == os::EntryKind::kNone) continue;
    result.emplace_back(spools, path_of(run.path(), item), name);
  }
  return result;
}

}  // namespace

std::vector<spool::SpoolDirectory> spools_of(const run::Directory& run) {
  return spools_in(run, Item::kSpool);
}

std::shared_ptr<const PackedRanks> packed_ranks_of(const run::Directory& run) {
  return std::make_shared<const PackedRanks>(
      std::make_shared<const os::Directory>(run.open_plain(Item::kSpool)));
}

std::size_t remove_woven_spools(const run::Directory& run, std::size_t woven) {
  if (!run.retire_spool()) return 0;
  const std::size_t found = spools_in(run, Item::kWoven).size();
  if (found <= woven) {
    run.remove(Item::kWoven);
    return 0;
  }
  const std::optional<run::Directory> spool = run.open_directory(Item::kWoven);
  if (spool && !spool->holds(Item::kRunning)) spool->write(Item::kRunning, "");
  run.move(Item::kWoven, run, Item::kSpool);
  return found - woven;
}

void refuse_unreadable(const fs::path& run) {
  std::error_code error;
  for (const Item item : {Item::kAnchor, Item::kPacked, Item::kProfile, Item::kSpool}) {
    const fs::path path = path_of(run, item);
    if (!fs::is_symlink(fs::symlink_status(path, error))) continue;
    throw Error(
        path.string() +
        " is a link, and links inside a run are not followed; put there what it leads to [TL209]");
  }
  const auto fail = [&](const fs::path& path) {
    throw Error("cannot read " + path.string() + ": " + error.message() + " [TL210]");
  };
  fs::directory_iterator spools(path_of(run, Item::kSpool), error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return;
  if (error) fail(path_of(run, Item::kSpool));
  for (const auto& entry : spools) {
    const fs::file_status defs = fs::symlink_status(entry.path() / kDefsName, error);
    if (!fs::status_known(defs)) fail(entry.path());
  }
}

bool is_woven(const fs::path& run) {
  if (holds(run, Item::kAnchor) || holds(run, Item::kPacked)) return true;
  return !find_profile(run).empty() && !holds(run, Item::kTraceEvents);
}

namespace {

// An interrupted weave may have left both results and spool. A user that may not write there still
// has all results.
bool is_interrupted(const fs::path& run) {
  return holds(run, Item::kWorking) && ::access(run.c_str(), W_OK) == 0;
}

// True for an entry of a run with a name of the table, or of a result that is still to be woven.
bool is_name_in(const fs::path& name, bool by_extension) {
  for (const run::Kind kind : {run::Kind::kFile, run::Kind::kDirectory}) {
    const run::Entry* entry = run::find_entry(name.string(), kind);
    if (entry != nullptr && (by_extension || entry->name == name.string())) return true;
  }
  return false;
}

// The directory above `path` that `is_wanted` accepts and that has an entry of the table on the
// path.
template <typename IsWanted>
std::optional<fs::path> run_above(const fs::path& path, bool by_extension, IsWanted is_wanted) {
  fs::path at = path.lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  for (; at.has_filename(); at = at.parent_path()) {
    const fs::path parent = at.has_parent_path() ? at.parent_path() : fs::path(".");
    if (is_name_in(at.filename(), by_extension) && is_wanted(parent)) return parent;
  }
  return std::nullopt;
}

std::string why_not_there(const fs::path& path) {
  std::error_code error;
  const bool is_there = fs::is_symlink(path, error);
  static_cast<void>(fs::status(path, error));
  if (error == std::errc::too_many_symbolic_link_levels) {
    return path.string() + " is a link that leads back to itself; ";
  }
  if (!is_there) return path.string() + " does not exist; ";
  const fs::path target = fs::read_symlink(path, error);
  return path.string() + " is a link to " + target.string() + ", which does not exist; ";
}

}  // namespace

bool unfinished(const fs::path& path) {
  const std::optional<run::Directory> run = open(path);
  if (!run) return false;
  const std::optional<run::Directory> spool = run->open_directory(Item::kSpool);
  if (!spool) return false;
  const bool woven = is_woven(path) && !is_interrupted(path) && !spool->holds(Item::kRunning);
  return !woven && !spools_of(*run).empty();
}

bool has_spools(const fs::path& path) {
  const std::optional<run::Directory> run = open(path);
  return run && !spools_of(*run).empty();
}

void remove_leftovers(const fs::path& path) noexcept try {
  const run::Directory run(path);
  if (!run.holds(Item::kWorking) && !run.holds(Item::kWoven)) return;
  if (!run.try_lock() || !is_woven(path) || unfinished(path)) return;
  run.remove(Item::kWorking);
  run.remove(Item::kWoven);
} catch (const std::exception&) {  // the remaining files do no harm
}

std::optional<fs::path> unfinished_run_of(const fs::path& path) {
  return run_above(path, true, unfinished);
}

std::optional<fs::path> run_of_entry(const fs::path& path) {
  return run_above(path, false, is_run);
}

fs::path find_run(const std::optional<fs::path>& path) {
  if (!path) return newest_run();
  if (path->empty())
    throw Error("the name of the run is empty; " + std::string(kWhatToName) + " [TL203]");
  std::error_code error;
  if (path->extension() == ".cubex" && fs::is_regular_file(*path, error)) return *path;
  const bool packed = path->extension() == packed::kExtension;
  if ((packed || path->extension() == ".otf2") && fs::is_regular_file(*path, error)) {
    if (path->filename() != run::entry(packed ? Item::kPacked : Item::kAnchor).name)
      return *path;  // an archive of another tool, or a copy
    const fs::path directory = path->parent_path();
    return directory.empty() ? fs::path(".") : directory;
  }
  if (fs::is_directory(*path, error) && is_run(*path)) return *path;
  if (const auto run = run_of_entry(*path)) return *run;
  if (!fs::exists(*path, error))
    throw Error(why_not_there(*path) + std::string(kWhatToName) + " [TL202]");
  refuse_unreadable(*path);
  refuse_several_profiles(*path);
  if (const auto last = last_run_in(*path)) {
    throw Error(path->string() + " contains runs, but is not a run; name one of them, such as " +
                last->string() + " [TL204]");
  }
  throw Error(path->string() +
              " is not a run: it holds no trace (traces.otf2), no profile (profile.cubex) and no "
              "spool; " +
              std::string(kWhatToName) + " [TL205]");
}

fs::path trace_of(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error)) return run;
  // Packing a run that is interrupted leaves both; the anchor is the first file that it removes.
  for (const Item item : {Item::kAnchor, Item::kPacked}) {
    if (holds(run, item)) return path_of(run, item);
  }
  fs::path anchor = only_file(run, ".otf2");
  if (!anchor.empty()) return anchor;
  throw Error(run.string() + " holds no trace (traces.otf2); " + std::string(kWhatToName) +
              " [TL206]");
}

bool has_trace(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error)) return run.extension() != ".cubex";
  return holds(run, Item::kAnchor) || holds(run, Item::kPacked) || !only_file(run, ".otf2").empty();
}

bool has_profile(const fs::path& run) { return !find_profile(run).empty(); }

fs::path profile_of(const fs::path& run) {
  fs::path profile = find_profile(run);
  if (!profile.empty()) return profile;
  throw Error(run.string() + " holds no profile (profile.cubex); name a .cubex file [TL207]");
}

}  // namespace timeloom::weave
