#include "run/run_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <optional>
#include <span>
#include <system_error>

#include "core/error.hpp"
#include "core/life.hpp"
#include "os/file.hpp"
#include "os/resolved_path.hpp"
#include "run/manifest.hpp"
#include "run/open_directory.hpp"
#include "run/spools.hpp"

namespace timeloom::run {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFirstLine = "# A run of Timeloom: the settings used.\n";

// The start of the settings file; none: there is no such file.
std::optional<std::string> begin_of_settings(const Directory& directory) {
  const os::File settings = directory.open_file(Item::kSettings);
  if (!settings.is_open()) return std::nullopt;
  std::string line(kFirstLine.size(), '\0');
  int error = 0;
  line.resize(settings.read_at(0, std::as_writable_bytes(std::span(line)), &error));
  return error == 0 ? std::optional(line) : std::nullopt;
}

bool is_run(const Directory& directory) { return begin_of_settings(directory) == kFirstLine; }

// A file name made from the name that the user gave for the program.
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
  throw EnvironmentError("cannot write the run to " + path.string() + ": " + error.message() +
                         "; choose another directory with --output [TL220]");
}

// The users who may change the run besides this one, as a text for the user; empty: nobody.
std::string others_in(const Directory& directory) {
  const std::string path = directory.path().string();
  if (directory.is_of_another_user()) {
    return path + " belongs to user " + std::to_string(directory.owner()) +
           ", who can change the run";
  }
  return directory.is_open_to_all() ? path + " lets every user change the run" : std::string();
}

// A link of another user may lead to anything of this one.
void refuse_link_of_another(const os::ResolvedPath& place) {
  if (!place.link.empty())
    throw Error(place.link + " is a link of another user; choose another with --output [TL221]");
}

[[noreturn]] void fail(const fs::path& path, int error) {
  fail(path, std::error_code(error, std::generic_category()));
}

Directory open_at(const os::ResolvedPath& place, const fs::path& path) {
  int error = 0;
  os::Directory directory = place.open(&error);
  if (place.error == 0 && (error == ENOTDIR || error == ELOOP)) {
    throw Error(path.string() +
                " exists and is not a directory; choose another with --output [TL222]");
  }
  if (error != 0) fail(path, error);
  return {std::move(directory), path};
}

// `own`: this process has just made it, though others may have put something into it since.
void refuse_unusable(const Directory& directory, bool force, bool own = false) {
  const std::string path = directory.path().string();
  if (directory.empty() || is_aborted_start(directory)) {
    const std::string others = force || own ? std::string() : others_in(directory);
    if (others.empty()) return;
    throw Error(others + "; allow it with --force or choose another with --output [TL229]");
  }
  if (!is_run(directory)) {
    throw Error(path +
                " exists and is not a run of Timeloom; choose another with --output [TL223]");
  }
  if (!force) {
    throw Error("the run " + path +
                " exists; replace it with --force or choose another with --output [TL224]");
  }
  if (being_recorded(directory.path())) {
    throw Error(
        "the program of the run " + path +
        " is still running; wait until it has ended or choose another with --output [TL225]");
  }
  // Not by taking the lock: all ranks of a job ask at once.
  if (directory.is_locked()) {
    throw Error(
        "the run " + path +
        " is being woven; wait until that has ended or choose another with --output [TL226]");
  }
  directory.check_removable();
}

// For a directory that this process has just made.
void refuse_replaced(const Directory& directory) {
  if (directory.is_at_its_path() && !directory.is_of_another_user()) return;
  throw Error(
      directory.path().string() +
      " was replaced by another directory when it was made; choose another with --output [TL227]");
}

}  // namespace

fs::path current_directory() {
  std::error_code error;
  fs::path here = fs::current_path(error);
  if (error) {
    throw EnvironmentError("the current directory is gone: " + error.message() +
                           "; change to one that exists [TL228]");
  }
  return here;
}

fs::path choose_directory(const std::string& output, std::string_view program) {
  const fs::path here = current_directory();
  if (output.empty()) {
    return free_name(here, "timeloom-" + short_name(program) + "-" + time_text());
  }
  fs::path path = (here / output).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

fs::path claim_directory(const std::string& output, std::string_view program) {
  for (;;) {
    fs::path path = choose_directory(output, program);
    // Environment errors are reported when the run is made.
    if (!output.empty() || ::mkdir(path.c_str(), 0777) == 0 || errno != EEXIST) return path;
  }
}

bool being_recorded(const fs::path& run) {
  int error = 0;
  const os::Directory directory = os::Directory::open(run.string(), &error);
  const os::Directory spools = directory.open_below(name_of(Item::kSpool), &error);
  if (error != 0) return false;
  return std::ranges::any_of(spools_in(spools, &error), [&](const std::string& name) {
    return alive([&](const std::string& part, int* failed) {
             return spools.open_file(name + "/" + part, failed);
           }) == Alive::kYes;
  });
}

bool being_woven(const fs::path& run) {
  int error = 0;
  const os::Directory directory = os::Directory::open(run.string(), &error);
  return directory.is_open() && directory.is_locked();
}

bool is_aborted_start(const Directory& directory) {
  const std::optional<std::string> begin = begin_of_settings(directory);
  return begin && begin->size() < kFirstLine.size() && kFirstLine.starts_with(*begin) &&
         directory.names().size() == 1;
}

void check_directory(const fs::path& path, bool force) try {
  const os::ResolvedPath place = os::resolve_path(path.string());
  refuse_link_of_another(place);
  int error = place.error;
  const bool there = error == 0 && place.directory.kind(place.name, &error) != os::EntryKind::kNone;
  if (there) refuse_unusable(open_at(place, path), force);
} catch (const std::system_error& error) {
  fail(path, error.code());
}

void make_rendezvous(const fs::path& path) { refuse_link_of_another(os::make_directories(path)); }

MadeRun make_directory(const fs::path& path, bool force, const std::string& settings,
                       bool claimed) try {
  check_directory(path, force || claimed);
  const os::ResolvedPath place = os::make_directories(path.string());
  refuse_link_of_another(place);
  const bool made = place.made || claimed;
  const Directory directory = open_at(place, path);
  if (made) refuse_replaced(directory);
  refuse_unusable(directory, force, made);  // it may have been replaced
  directory.remove_run();
  try {
    directory.write(Item::kSettings, std::string(kFirstLine) + settings);
    directory.write(Item::kManifest,
                    manifest_text({Item::kSettings, Item::kSpool}, Stage::kRecorded));
  } catch (const std::system_error&) {
    directory.remove_run();
    if (made) place.directory.remove_directory(place.name);
    throw;
  }
  const std::string others = made ? std::string() : others_in(directory);
  return {directory.known(), others.empty() ? others : others + " [TL229]"};
} catch (const std::system_error& error) {
  fail(path, error.code());
}

std::string read_settings(const fs::path& path) try {
  constexpr std::uint64_t kLargest = 1 << 20;
  const os::File file = Directory(path).open_file(Item::kSettings);
  int error = file.is_open() ? 0 : ENOENT;
  const std::uint64_t size = error == 0 ? file.size(&error) : 0;
  if (error == 0 && size > kLargest) error = EFBIG;
  std::string text(error == 0 ? size : 0, '\0');
  if (error == 0) text.resize(file.read_at(0, std::as_writable_bytes(std::span(text)), &error));
  if (error != 0 || !text.starts_with(kFirstLine)) {
    throw Error("there are no settings of a run in " + path.string() + " [TL230]");
  }
  return text.substr(kFirstLine.size());
} catch (const std::system_error& error) {
  fail(path, error.code());
}

void forget_directory(const KnownDirectory& run, bool existed) noexcept try {
  const Directory directory = Directory::open(run);
  if (!is_run(directory)) return;
  directory.remove_run();
  if (!existed) ::rmdir(run.path().c_str());  // only if nothing is in it
} catch (const std::exception&) {
}

}  // namespace timeloom::run
