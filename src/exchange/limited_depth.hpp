// Limits the depth of call paths, for formats that write the whole stack of each and so grow with
// the square of the depth. A deeper stack ends with "(deeper calls)" and the called function; call
// paths that become equal are joined.
//
// A plain function; throws only std::bad_alloc.
#pragma once

#include <cstdint>

#include "profile/call_tree.hpp"

namespace timeloom::exchange {

inline constexpr std::uint32_t kMostFrames = 1024;  // Python's own limit of recursion is 1,000

// Joins the call paths below `most` calls. Exclusive times and visits stay; metric values are left
// out. Returns false if there were none; the tree is then unchanged.
bool limit_depth(profile::CallTree& tree, std::uint32_t most = kMostFrames);

}  // namespace timeloom::exchange
