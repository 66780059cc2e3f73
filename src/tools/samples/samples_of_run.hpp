// The single samples of a run, for the formats that show them.
//
// Plain functions, used by one thread. They throw Error for a file that is damaged.
#pragma once

#include <filesystem>
#include <string>

#include "core/definitions.hpp"
#include "exchange/samples/sampled_run.hpp"

namespace timeloom::tools {

// `run`: its directory, or its trace. `definitions`: of the trace. Throws Error if the run has no
// single samples.
exchange::RunSamples samples_of_run(const std::filesystem::path& run,
                                    const Definitions& definitions);

// The same from the bytes of such a file, of a run that is still recorded.
exchange::RunSamples samples_so_far(const std::string& bytes, const Definitions& definitions);

}  // namespace timeloom::tools
