// The spools of a run for recording into a process that runs already, perhaps of another user.
//
// A user who may write to the parent of the run can replace the run at any time. So the run is kept
// open, and files are made, and handed over to the other user, from the open directory and never by
// a path. Any thread; throws Error.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "run/open_directory.hpp"

namespace timeloom::run {

// Opens a run that this process has just made. `user`: the other user who will record into it; then
// the run must belong to us, and its path must lead to it without a link at the end.
Directory open_for_other(const KnownDirectory& run, std::optional<unsigned> user);

// Makes RUN/spool with the file `settings` in it, and gives both, and nothing else, to the user.
void make_spool_for_other(const Directory& run, std::string_view settings,
                          std::optional<unsigned> user);

}  // namespace timeloom::run
