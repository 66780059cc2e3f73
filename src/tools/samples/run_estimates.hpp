// The estimated times of throttled functions (--overhead) in a part of a run, from its single
// samples. The profile of a run has them for the whole.
//
// A plain function, used by one thread. Throws Error for a file that is damaged.
#pragma once

#include <filesystem>

#include "profile/call_tree.hpp"
#include "tools/samples/run_samples.hpp"

namespace timeloom::tools {

// Whether a tree that was made of the trace of the run lacks estimates.
bool lacks_estimates(const Definitions& definitions, const std::filesystem::path& run);

// Adds them to the call paths of that part, which were made of the trace. `run`: its directory, or
// its trace. Does nothing if the run has none.
void add_estimates(profile::CallTree& tree, const std::filesystem::path& run,
                   const SamplePart& part);

}  // namespace timeloom::tools
