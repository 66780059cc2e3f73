// A run on disk: a directory with spools, a trace, a profile and tables, or a single OTF2 archive
// or CUBE profile of another tool.
//
// Plain functions and values, for any thread unless noted. They throw Error with one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/known_directory.hpp"
#include "core/measuring_cost.hpp"
#include "run/run_layout.hpp"

namespace timeloom::weave {

// A function that was not timed to its end, see core/throttled.hpp.
struct ThrottledFunction {
  std::string name;
  std::uint64_t visits = 0;  // before that; 0: not known, there is no profile
};

// The outcome of a weave, for one line on the terminal.
struct WeaveSummary {
  std::uint64_t events = 0;  // written to the trace
  std::uint64_t threads = 0;
  std::uint64_t tasks = 0;
  std::uint64_t task_lanes = 0;  // locations of tasks and lanes; 0: each task has its own
  std::uint64_t bytes = 0;       // size of the records in the spools
  std::uint64_t processes = 0;
  std::uint64_t running = 0;            // processes still running: their records so far were woven
  std::string engine;                   // "4 workers (Dask), 1,204 tasks"; empty: none
  std::uint64_t maybe_running = 0;      // may still run on other machines: the spool is kept
  std::uint64_t lost_events = 0;        // events that could not be recorded
  std::uint64_t older_events = 0;       // events dropped for newer ones at the size limit
  std::uint64_t closed_regions = 0;     // left open by the end of the program, closed here
  std::uint64_t foreign_segments = 0;   // parts of other runs' spools
  std::uint64_t damaged_segments = 0;   // damaged parts of spools
  std::uint64_t unnamed_code = 0;       // regions of compiled code without the name of a function
  std::string ending;                   // how the program ended; empty: normally
  std::uint64_t aggregated_events = 0;  // part of the events: only the profile has them
  Shares overhead;                      // zeros: not known
  std::uint64_t unknown_costs = 0;      // processes that `overhead` does not include
  std::vector<ThrottledFunction> throttled{};  // by their visits, the most first
  std::string observed_share;  // kObservedShare of core/throttled.hpp; empty: all was seen
  // Levels of call paths that the profile distinguishes, and levels that the program had; 0: the
  // profile has all of them.
  std::uint64_t profile_depth = 0;
  std::uint64_t reached_depth = 0;
  const run::Layout* layout = &run::kTimeloomLayout;
  // A name for the profile that the spool asks for and that cannot be a file name; the profile then
  // has its usual name. Empty: all is well.
  std::string refused_profile_name;
};

struct WeaveOptions {
  unsigned threads = 0;   // 0: one per core
  bool progress = false;  // a line on stderr when it takes longer than a second
  bool keep_spool = false;
  std::vector<std::string> symbols{};  // directories with objects of compiled code, or debug files
  // Time to wait for another weave of the run; then this one is refused.
  std::chrono::milliseconds timeout{};
  bool more_ranks = false;  // of the job may join the run: it is not finished
  os::DirectoryId run{};    // the directory that the run must be; empty: any
  bool just_ended = false;  // the ranks have just converted their events
  // Whether the trace is packed, whatever the run asks for; empty: as it asks for.
  std::optional<bool> packed{};
};

// At the end of a program: long enough for a weave of some gigabytes.
inline constexpr std::chrono::milliseconds kTimeoutAtEnd = std::chrono::minutes(2);

// Weaves the spools of the run into a trace and profile.cubex inside `run`. Refused while
// another weave is at work. May be repeated until it succeeds: all files are written under other
// names and renamed at the end, and the spools are removed last. The spools stay if a part of them
// could not be read or a process is still running; such a run is unfinished() and is woven again.
// Throws Error.
WeaveSummary weave(const std::filesystem::path& run, const WeaveOptions& options = {});

// True if `run` holds spools that have not been woven.
bool unfinished(const std::filesystem::path& run);

// True if the spools of `run` are there, though it may have been woven.
bool has_spools(const std::filesystem::path& run);

// Removes the files of a weave that was interrupted when all results were in place.
void remove_leftovers(const std::filesystem::path& run) noexcept;

// The unfinished run that contains `path`, which may name a result that is still to be woven.
std::optional<std::filesystem::path> unfinished_run_of(const std::filesystem::path& path);

// The run that has, or had, an entry with the last name of the path.
std::optional<std::filesystem::path> run_of_entry(const std::filesystem::path& path);

// Finds the run that `path` means. `path` may be a run directory or an entry of one, a CUBE profile
// (the result is the file), or the anchor file of an archive (the result is its directory if
// Timeloom wrote it, and the file if it has another name). Without a path: the newest run of the
// current directory by its recorded time, of this user if there is one, else of any user. Throws
// Error when there is none.
std::filesystem::path find_run(const std::optional<std::filesystem::path>& path);

// The name of the user that owns the run; empty: this user. REQUIRES: called by one thread at a
// time.
std::string other_owner(const std::filesystem::path& run);

// The file by which the trace of a woven run is opened (trace_files.hpp): of OTF2 the anchor, also
// of a foreign archive. Throws Error.
std::filesystem::path trace_of(const std::filesystem::path& run);

// False for a run that has a profile only.
bool has_trace(const std::filesystem::path& run);

// False for a run without a CUBE profile.
bool has_profile(const std::filesystem::path& run);

// The CUBE profile of a woven run, or of another tool. Throws Error.
std::filesystem::path profile_of(const std::filesystem::path& run);

}  // namespace timeloom::weave
