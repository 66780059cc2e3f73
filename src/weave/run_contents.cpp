#include "weave/run_contents.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "run/contents.hpp"
#include "weave/run.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWhatToName = "name the directory of a run, an .otf2 or a .cubex file";

using run::Item;

fs::path path_of(const fs::path& run, Item item) { return run / run::entry(item).name; }

// The only file of a directory with this extension, under whatever name; empty
// if there is none.
fs::path only_file(const fs::path& directory, const char* extension) {
  fs::path found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != extension || !entry.is_regular_file(error)) continue;
    if (!found.empty()) return {};
    found = entry.path();
  }
  return found;
}

// The CUBE profile of the run; empty if there is none.
fs::path find_profile(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error)) return run.extension() == ".cubex" ? run : fs::path();
  const fs::path profile = path_of(run, Item::kProfile);
  if (fs::is_regular_file(profile, error)) return profile;
  return only_file(run, ".cubex");
}

// A folder called spool is not enough: source trees have one as well.
bool is_run(const fs::path& directory) {
  std::error_code error;
  return fs::exists(path_of(directory, Item::kAnchor), error) || !spools_of(directory).empty() ||
         !only_file(directory, ".otf2").empty() || !only_file(directory, ".cubex").empty();
}

fs::path newest_run() {
  fs::path newest;
  fs::file_time_type newest_time{};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    if (!entry.is_directory(error) || !is_run(entry.path())) continue;
    // The settings are written when the run begins; foreign archives have none.
    fs::file_time_type time = fs::last_write_time(path_of(entry.path(), Item::kSettings), error);
    if (error) time = fs::last_write_time(entry.path(), error);
    if (newest.empty() || time > newest_time) {
      newest = entry.path().lexically_normal();
      newest_time = time;
    }
  }
  if (newest.empty()) {
    throw Error("there is no run in this directory; name one, or make one: timeloom run script.py");
  }
  return newest;
}

}  // namespace

std::vector<std::string> spools_of(const fs::path& run) {
  std::vector<std::string> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_of(run, Item::kSpool), error)) {
    std::error_code none;
    if (fs::exists(entry.path() / "defs", none)) result.push_back(entry.path().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

void refuse_unreadable(const fs::path& run) {
  std::error_code error;
  const auto fail = [&](const fs::path& path) {
    throw Error("cannot read " + path.string() + ": " + error.message());
  };
  fs::directory_iterator spools(path_of(run, Item::kSpool), error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return;
  if (error) fail(path_of(run, Item::kSpool));
  for (const auto& entry : spools) {
    static_cast<void>(fs::exists(entry.path() / "defs", error));
    if (error) fail(entry.path());
  }
}

bool is_woven(const fs::path& run) {
  std::error_code error;
  if (fs::exists(path_of(run, Item::kAnchor), error)) return true;
  return !only_file(run, ".cubex").empty() && !fs::exists(path_of(run, Item::kTraceEvents), error);
}

bool unfinished(const fs::path& run) {
  std::error_code error;
  const bool woven =
      is_woven(run) &&
      !fs::exists(path_of(run, Item::kSpool) / run::entry(Item::kRunning).name, error);
  return !woven && !spools_of(run).empty();
}

fs::path find_run(const std::optional<fs::path>& path) {
  if (!path) return newest_run();
  if (path->empty()) throw Error("the name of the run is empty; " + std::string(kWhatToName));
  std::error_code error;
  if (path->extension() == ".cubex" && fs::is_regular_file(*path, error)) return *path;
  if (path->extension() == ".otf2" && fs::is_regular_file(*path, error)) {
    if (path->filename() != run::entry(Item::kAnchor).name)
      return *path;  // an archive of another tool
    const fs::path directory = path->parent_path();
    return directory.empty() ? fs::path(".") : directory;
  }
  if (!fs::exists(*path, error)) {
    throw Error(path->string() + " does not exist; " + std::string(kWhatToName));
  }
  if (!fs::is_directory(*path, error) || !is_run(*path)) {
    refuse_unreadable(*path);
    throw Error(path->string() +
                " is no run: it holds no trace (traces.otf2), no profile (profile.cubex) and no "
                "spool; " +
                std::string(kWhatToName));
  }
  return *path;
}

fs::path trace_of(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error)) return run;
  if (fs::exists(path_of(run, Item::kAnchor), error)) return path_of(run, Item::kAnchor);
  fs::path anchor = only_file(run, ".otf2");
  if (!anchor.empty()) return anchor;
  throw Error(run.string() + " holds no trace (traces.otf2); " + std::string(kWhatToName));
}

bool has_trace(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error)) return run.extension() != ".cubex";
  return fs::exists(path_of(run, Item::kAnchor), error) || !only_file(run, ".otf2").empty();
}

bool has_profile(const fs::path& run) { return !find_profile(run).empty(); }

fs::path profile_of(const fs::path& run) {
  fs::path profile = find_profile(run);
  if (!profile.empty()) return profile;
  throw Error(run.string() + " holds no profile (profile.cubex); name a .cubex file");
}

}  // namespace timeloom::weave
