// The filter file that `timeloom score -g` proposes. Plain functions, used by one thread.
#pragma once

#include <filesystem>
#include <string>

#include "profile/score.hpp"
#include "tools/score/score_options.hpp"

namespace timeloom::tools {

// The text of the file. Throws only std::bad_alloc.
std::string proposed_filter(const profile::ScoreProfile& profile, const profile::Score& score,
                            const ScoreOptions& options);

// Writes the text into a file in `directory`; an existing file of that name gets the current time
// added to its name. Returns the path. Throws Error.
std::filesystem::path write_filter(const std::filesystem::path& directory,
                                   const ScoreOptions& options, const std::string& text);

}  // namespace timeloom::tools
