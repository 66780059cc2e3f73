// A run that is still recorded, as it is now: read from its spools, and nothing is written.
//
// Plain functions and values, for any thread, except for LiveReader. They throw Error with one
// line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/definitions.hpp"
#include "core/known_directory.hpp"
#include "os/process.hpp"
#include "profile/call_tree.hpp"
#include "run/open_directory.hpp"
#include "symbols/code_names.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

struct LiveRun {
  profile::CallTree tree;           // of all that has been recorded so far
  std::uint64_t running = 0;        // processes that are still measured
  std::uint64_t maybe_running = 0;  // the same on other machines or in other containers
};

// All records are read each time, by `threads` threads. Without a value: there are no spools, so
// the run has been woven, or is not there.
std::optional<LiveRun> read_live(const std::filesystem::path& run, unsigned threads);

// The run that a process is recorded in; without a value: it is not measured, or cannot be looked
// at.
std::optional<std::filesystem::path> run_of_process(std::uint64_t pid);

// True if a process of this machine is recorded in the run now.
bool is_recorded_now(const std::filesystem::path& run);

// Reads a run again and again while it is recorded. Used by one thread.
class LiveReader {
 public:
  // Throws Error if there is no such directory.
  explicit LiveReader(const std::filesystem::path& run);

  // The records so far, with the calls of living processes open until now, and the samples. Regions
  // keep the numbers that they had in the look before. Null: there are no spools, since the run has
  // been woven. Throws Error, also when another directory has taken the place of the run.
  std::unique_ptr<SpoolSource> look();
  // True if the same directory has been woven, and its recording has ended; even under a new name.
  bool was_woven() const noexcept;
  // The present path of the directory, which may have been renamed.
  std::filesystem::path path() const;
  const os::DirectoryId& id() const noexcept { return known_.id(); }
  // True while a process lives that was seen recording, and that no recorded process has started.
  // The end of its measurement need not be its end. False if it cannot be seen from here.
  bool process_lives() const;

 private:
  bool is_at(const std::filesystem::path& path) const;
  void remember(const std::vector<LocationGroup>& processes);

  std::filesystem::path path_;
  run::Directory directory_;
  KnownDirectory known_;
  symbols::CodeNames names_;
  std::vector<Region> regions_;
  std::map<std::uint64_t, os::ProcessIdentity> recording_;  // by process id
};

}  // namespace timeloom::weave
