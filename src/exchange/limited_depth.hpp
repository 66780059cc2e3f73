// Call paths for formats that hold the whole stack of each, and so grow with the square of their
// depth: beyond a depth, a stack ends with "(deeper calls)" and the function that was called, and
// what is the same in this form is one call path.
//
// A plain function; nothing is thrown but what memory can.
#pragma once

#include <cstdint>

#include "profile/call_tree.hpp"

namespace timeloom::exchange {

inline constexpr std::uint32_t kMostFrames = 1024;  // Python's own limit of recursion is 1,000

// Joins the call paths below `most` calls. The times that they took themselves and their visits
// stay; values of metrics are left out. False: there were none, and the tree is as it was.
bool limit_depth(profile::CallTree& tree, std::uint32_t most = kMostFrames);

}  // namespace timeloom::exchange
