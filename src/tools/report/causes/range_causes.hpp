// The causes of waiting in a part of a run, from its trace.
//
// A plain function. REQUIRES: no other thread uses the tree meanwhile. Throws Error where the trace
// is damaged.
#pragma once

#include <cstdint>

#include "core/event.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::tools {

// Adds the metrics of the causes to a tree of [from, to), in ticks since the start of the run,
// whose call paths consist of regions only. A wait that is only partly in this time counts in
// proportion, with the same share for each of its causes.
void add_causes_between(profile::CallTree& tree, RunSource& run, std::uint64_t from,
                        std::uint64_t to);

}  // namespace timeloom::tools
