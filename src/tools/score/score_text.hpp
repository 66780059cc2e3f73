// The tables of `timeloom score`, character by character like scorep-score's.
//
// Plain functions; they throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/score.hpp"
#include "tools/score/score_options.hpp"

namespace timeloom::tools {

// "4097kB": never less than the number.
std::string score_size(std::uint64_t bytes);

// The name with a backslash before each character that a filter takes for a pattern.
std::string escaped_pattern(std::string_view name);

// The records in the order of the key; stable.
std::vector<const profile::ScoreRecord*> sorted(std::vector<const profile::ScoreRecord*> records,
                                                ScoreKey key);

// The estimates and the tables.
std::string score_text(const profile::ScoreProfile& profile, const profile::Score& score,
                       const ScoreOptions& options);

}  // namespace timeloom::tools
