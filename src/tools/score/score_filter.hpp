// The filter file that `timeloom score -g` proposes.
#pragma once

#include <filesystem>
#include <string>

#include "profile/score.hpp"
#include "tools/score/score_options.hpp"

namespace timeloom::tools {

// Its text. Nothing throws.
std::string proposed_filter(const profile::ScoreProfile& profile, const profile::Score& score,
                            const ScoreOptions& options);

// Writes it into `directory`; an existing file of that name gets the current time added to
// its name. Returns the path. Throws Error.
std::filesystem::path write_filter(const std::filesystem::path& directory,
                                   const ScoreOptions& options, const std::string& text);

}  // namespace timeloom::tools
