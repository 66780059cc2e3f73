// The place of a new run: choosing, checking and making its directory.
//
// A run directory holds scorep.cfg, the settings used, whose first line says
// that Timeloom wrote it. In a directory with such a file, the entries of the table of
// contents are removed to make room for the next run; nothing else ever is.
// Functions may be called from any thread; they throw Error, and Obstacle where the machine,
// not the user's choice, is in the way.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/known_directory.hpp"

namespace timeloom::run {

class Directory;

// The directory that relative paths start from. Throws when it is gone.
std::filesystem::path current_directory();

// The absolute path of the run's directory: `output`, the setting of the user, or where
// that is empty timeloom-PROGRAM-YYYYMMDD-HHMMSS in the current directory, with -2, -3, ...
// when that is taken. `program` is a path or a name, as the user wrote it.
std::filesystem::path choose_directory(const std::string& output, std::string_view program);

// The same, and where `output` is empty makes the directory: of programs that begin in one second
// each has its own.
std::filesystem::path claim_directory(const std::string& output, std::string_view program);

// Throws if `path` exists and may not be used: it is no empty directory, and
// either `force` is off, or it is no run of Timeloom, or one being recorded or woven. Nor is
// without `force` one that others may change: it belongs to another user, or everybody may rename
// what is in it. A link of another user, be it on the way, is never followed (os/place.hpp).
void check_directory(const std::filesystem::path& path, bool force);

// Makes the directory in which the ranks of a job meet (run/job.hpp). Throws where a link of
// another user leads there; who uses it tells other obstacles.
void make_meeting(const std::filesystem::path& path);

// Whether a start that failed left it: nothing is in it but settings of which not even the
// first line was written. Throws std::system_error.
bool is_husk(const Directory& directory);

// Whether a program records into it just now.
bool being_recorded(const std::filesystem::path& run);
// Whether a weave of it goes on.
bool being_woven(const std::filesystem::path& run);

// A run that make_directory() has made.
struct MadeRun {
  KnownDirectory directory;
  std::string remark;  // for the user: who else may change it; empty: nobody
};

// Makes the directory with its parents, after removing the run that is in it
// (with `force`; checked as above), and writes `settings` to scorep.cfg and a MANIFEST.md that says
// what to do with a run that nobody has woven. On failure nothing
// that it has made is left. `claimed`: claim_directory() has just made it.
MadeRun make_directory(const std::filesystem::path& path, bool force, const std::string& settings,
                       bool claimed = false);

// The settings that make_directory() has written. Throws Error where `path` is no run of ours, or
// its settings are larger than any can be; a link or a FIFO in their place is not read.
std::string read_settings(const std::filesystem::path& path);

// Undoes make_directory() when nothing could be recorded; `existed`: the
// directory did before, and stays.
void forget_directory(const KnownDirectory& run, bool existed) noexcept;

}  // namespace timeloom::run
