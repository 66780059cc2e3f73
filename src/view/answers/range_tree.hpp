// The call tree of a part of a run, from its index.
//
// A function over an index, for any thread. Throws Error where the file is damaged.
#pragma once

#include "profile/call_tree.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// The activity of each location in [from, to): calls that reach beyond the range count with their
// part inside. Call paths consist of regions only; parameters do not split them. The only metric is
// waiting, where the run has it. REQUIRES: the definitions belong to the run.
profile::CallTree range_tree(const Index& index, const Definitions& definitions, std::uint64_t from,
                             std::uint64_t to);

}  // namespace timeloom::view
