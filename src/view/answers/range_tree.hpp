// The call tree of a part of a run, from its index.
//
// A function over an index, for any thread. Throws Error where the file is damaged.
#pragma once

#include "profile/call_tree.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// What each location did in [from, to): calls that reach beyond the range count with their part of
// it. Call paths are those of regions alone: parameters do not split them. Of metrics there
// is waiting alone, where the run has it. REQUIRES: the definitions are those of the run.
profile::CallTree range_tree(const Index& index, const Definitions& definitions, std::uint64_t from,
                             std::uint64_t to);

}  // namespace timeloom::view
