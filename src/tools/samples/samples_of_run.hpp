// The single samples of a run, for the formats that show them.
//
// A plain function, used by one thread. Throws Error for a file that is damaged.
#pragma once

#include <filesystem>

#include "core/definitions.hpp"
#include "exchange/samples/sampled_run.hpp"

namespace timeloom::tools {

// `run`: its directory, or its trace. `definitions`: of the trace. Throws Error if the run has no
// single samples.
exchange::RunSamples samples_of_run(const std::filesystem::path& run,
                                    const Definitions& definitions);

}  // namespace timeloom::tools
