// Results on the disk before the records that they replace are removed, so that a failure of the
// machine leaves one of both.
//
// The kernel writes files some seconds after the program has, and the names of files in whatever
// order; so nothing outlives a failure for certain in its first seconds. A run that began just now
// has no records that are safe, and waiting for the disk would make its end longer for nothing.
// Plain functions, which throw std::system_error; any thread.
#pragma once

#include "run/open_directory.hpp"

namespace timeloom::weave {

// Whether the run began so long ago that its records may be on the disk.
bool is_worth_a_sync(const run::Directory& run);

// Returns when all files below the directory, and their names, are on the disk.
void bring_to_disk(const run::Directory& results);

}  // namespace timeloom::weave
