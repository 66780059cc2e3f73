// The directory of a new run: choosing, checking and making it.
//
// A run directory contains scorep.cfg, the settings used, whose first line names Timeloom as its
// writer. In a directory with such a file, the entries of the table of contents are removed to make
// room for the next run; nothing else ever is. Functions may be called from any thread; they throw
// Error, and EnvironmentError if the machine, and not the user's choice, is the reason.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/known_directory.hpp"

namespace timeloom::run {

class Directory;

// The current directory. Throws if it has been removed.
std::filesystem::path current_directory();

// The absolute path of the run's directory: `output`, the user's setting, or if that is empty
// timeloom-PROGRAM-YYYYMMDD-HHMMSS in the current directory, followed by -2, -3, ... if that
// exists. `program` is a path or a name, as the user wrote it.
std::filesystem::path choose_directory(const std::string& output, std::string_view program);

// The same, and makes the directory if `output` is empty, so that programs that start within one
// second have different ones.
std::filesystem::path claim_directory(const std::string& output, std::string_view program);

// Throws if `path` exists and may not be used. An empty directory may be used. Any other needs
// `force`, and must be a run of Timeloom that is neither being recorded nor being woven. Without
// `force`, a directory that others may change is refused as well: it belongs to another user, or
// everybody may rename its entries. A link of another user anywhere in the path is never followed
// (os/resolved_path.hpp).
void check_directory(const std::filesystem::path& path, bool force);

// Makes the directory in which the ranks of a job meet (run/job.hpp). Throws if a link of another
// user leads there; other errors show when the directory is used.
void make_rendezvous(const std::filesystem::path& path);

// Whether the directory was left by a start that failed: it contains nothing but a settings
// file whose first line is incomplete. Throws std::system_error.
bool is_aborted_start(const Directory& directory);

// Whether a program records into the run just now.
bool being_recorded(const std::filesystem::path& run);
// Whether a process weaves the run just now.
bool being_woven(const std::filesystem::path& run);

// A run that make_directory() has made.
struct MadeRun {
  KnownDirectory directory;
  std::string note;  // tells the user which others may change it; empty: none
};

// Makes the directory with its parents, after removing the run in it (with `force`; checked as
// above). Writes `settings` to scorep.cfg, and a MANIFEST.md that explains how to weave the run. On
// failure it removes everything that it has made. `claimed`: claim_directory() has just made it.
MadeRun make_directory(const std::filesystem::path& path, bool force, const std::string& settings,
                       bool claimed = false);

// The settings that make_directory() has written. Throws Error if `path` is not a run of Timeloom,
// or if the file is larger than settings can be; a link or a FIFO in its place is not read.
std::string read_settings(const std::filesystem::path& path);

// Undoes make_directory() if nothing could be recorded; `existed`: the directory existed
// before, and stays.
void forget_directory(const KnownDirectory& run, bool existed) noexcept;

}  // namespace timeloom::run
