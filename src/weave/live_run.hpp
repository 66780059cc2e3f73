// A run that is still recorded, as it is now: read from its spools, and nothing is written.
//
// Plain functions and values, for any thread. They throw Error with one line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "profile/call_tree.hpp"

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

}  // namespace timeloom::weave
