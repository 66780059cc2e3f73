// Runs whose calls are made of samples: how often a function was called is not known, so the number
// of its samples takes the place of its visits.
//
// A plain function. REQUIRES: no other thread uses the tree meanwhile. Throws std::bad_alloc.
#pragma once

#include "profile/call_tree.hpp"

namespace timeloom::profile {

// In each call path of such a run, the visits become the samples in which the function itself was
// running, and the shortest and longest visit the least and most CPU time that one of these stands
// for. Does nothing to other trees. REQUIRES: the visits have been counted by events.
void count_samples(CallTree& tree);

}  // namespace timeloom::profile
