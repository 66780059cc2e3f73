// The spools of a run for a process that another one starts to record, perhaps of another user.
//
// Whoever may write where the run lies can put something else in its place at any time. So the run
// is held open, and what is made, and what the user gets, is found from there and never by a path.
// Any thread; throws Error.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "run/open_directory.hpp"

namespace timeloom::run {

// Opens a run that this process has just made. `user`: another one is to record into it: then the
// run has to belong to us, and to lie at its path itself.
Directory open_for_other(const KnownDirectory& run, std::optional<unsigned> user);

// Makes RUN/spool, and `settings` in it. The user gets both, and nothing else of the run.
void make_spool_for_other(const Directory& run, std::string_view settings,
                          std::optional<unsigned> user);

}  // namespace timeloom::run
