// The CUPTI of this process: the one that is loaded already, since two copies do not work beside
// each other; else the one beside the program's CUDA, of the packages, or of the toolkit.
//
// Called by one thread, inside cuInit. Throws std::bad_alloc.
#pragma once

#include <string>

#include "gpu/cuda/cupti_interface.hpp"

namespace timeloom::cuda {

// Fills in all functions; they stay as long as the process. False: `reason` says why not.
bool load_cupti(Functions& functions, std::string& reason);

}  // namespace timeloom::cuda
