// The filter file that `timeloom score -g` proposes.
#pragma once

#include <filesystem>
#include <string>

#include "profile/score.hpp"
#include "tools/score_options.hpp"

namespace timeloom::tools {

// Its text. Nothing throws.
std::string proposed_filter(const profile::ScoreProfile& profile, const profile::Score& score,
                            const ScoreOptions& options);

// Writes it into `directory`; a file of its name is renamed after the time it
// is now. Returns the path. Throws Error.
std::filesystem::path write_filter(const std::filesystem::path& directory,
                                   const ScoreOptions& options, const std::string& text);

}  // namespace timeloom::tools
