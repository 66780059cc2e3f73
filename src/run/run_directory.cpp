#include "run/run_directory.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

#include "core/error.hpp"
#include "os/file.hpp"

namespace timeloom {
namespace fs = std::filesystem;
namespace {

constexpr char kSettingsName[] = "scorep.cfg";
// All that Timeloom ever puts into a run. The file by which a run is known goes
// last, so that what an interruption leaves can be removed by the next --force.
constexpr const char* kOwnNames[] = {
    "spool",       ".weaving",       ".woven",        "traces",      "traces.def", "traces.marker",
    "traces.otf2", "callpaths.json", "profile.cubex", "MANIFEST.md", kSettingsName};
constexpr std::string_view kFirstLine = "# A run of Timeloom: the settings used.";

bool is_run(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path / kSettingsName, ignored)) return false;  // a FIFO would block
  std::ifstream file(path / kSettingsName);
  std::string line;
  return std::getline(file, line) && line == kFirstLine;
}

// A name for a file made of what the user calls the program.
std::string short_name(std::string_view program) {
  std::string name = fs::path(program).filename().string();
  if (name.empty()) {  // "dir/"
    name = fs::path(program).parent_path().filename().string();
  }
  if (name.ends_with(".py")) {
    name.resize(name.size() - 3);
  }
  std::string result;
  for (const char c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
    result += plain ? c : '_';
  }
  constexpr std::size_t kLongest = 200;  // the whole name has to fit into 255
  if (result.size() > kLongest) result.resize(kLongest);
  return result.empty() || result.front() == '.' ? "program" : result;
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

fs::path free_name(const fs::path& directory, const std::string& name) {
  fs::path path = directory / name;
  std::error_code error;
  for (int n = 2; fs::exists(fs::symlink_status(path, error)); ++n) {
    path = directory / (name + "-" + std::to_string(n));
  }
  return path;
}

[[noreturn]] void fail(const fs::path& path, const std::error_code& error) {
  throw Error("cannot write the run to " + path.string() + ": " + error.message() +
              "; choose another directory with --output");
}

// Whatever else lies in the directory is the user's.
void remove_run(const fs::path& path, std::error_code& error) {
  for (const char* name : kOwnNames) {
    fs::remove_all(path / name, error);
    if (error) return;
  }
}

void write_settings(const fs::path& path, const Settings& settings) {
  const fs::path name = path / kSettingsName;
  errno = 0;
  std::ofstream file(name);
  file << kFirstLine << "\n" << settings.as_variables();
  if (!file.flush()) {
    fail(path, std::error_code(errno == 0 ? EIO : errno, std::generic_category()));
  }
}

}  // namespace

fs::path current_directory() {
  std::error_code error;
  fs::path here = fs::current_path(error);
  if (error) {
    throw Error("the current directory is gone: " + error.message() +
                "; change to one that exists");
  }
  return here;
}

fs::path run_directory(const Settings& settings, std::string_view program) {
  const fs::path here = current_directory();
  const std::string chosen = settings.text("output");
  if (chosen.empty()) {
    return free_name(here, "timeloom-" + short_name(program) + "-" + time_text());
  }
  fs::path path = (here / chosen).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

// The program that records a run marks the definitions of its spool.
bool being_recorded(const fs::path& run) {
  std::error_code ignored;
  for (const auto& spool : fs::directory_iterator(run / "spool", ignored)) {
    int error = 0;
    const os::File file = os::File::open_read((spool.path() / "defs").string(), &error);
    if (file.is_open() && file.in_use()) return true;
  }
  return false;
}

void check_run_directory(const fs::path& path, bool force) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return;
  }
  if (!fs::is_directory(status)) {
    throw Error(path.string() + " exists and is no directory; choose another with --output");
  }
  const bool empty = fs::is_empty(path, error);
  if (error) {
    fail(path, error);
  }
  if (empty) {
    return;
  }
  if (!is_run(path)) {
    throw Error(path.string() + " exists and is no run of Timeloom; choose another with --output");
  }
  if (!force) {
    throw Error("the run " + path.string() +
                " exists; replace it with --force or choose another with --output");
  }
  if (being_recorded(path)) {
    throw Error("the program of the run " + path.string() +
                " is still running; wait until it has ended or choose another with --output");
  }
}

void make_run_directory(const fs::path& path, const Settings& settings) {
  check_run_directory(path, settings.flag("force"));
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    fail(path, error);
  }
  remove_run(path, error);
  if (error) fail(path, error);
  write_settings(path, settings);
}

void forget_run_directory(const fs::path& path, bool existed) noexcept {
  std::error_code error;
  if (!is_run(path)) return;
  remove_run(path, error);
  if (!existed) fs::remove(path, error);  // only if nothing else is in it
}

}  // namespace timeloom
