// Finds the CUPTI of this process: the copy that is loaded already, since two copies do not work
// together; otherwise the copy beside the program's CUDA, in the packages, or in the toolkit.
//
// Called by one thread, inside cuInit. Throws std::bad_alloc.
#pragma once

#include <string>

#include "gpu/cuda/cupti_interface.hpp"

namespace timeloom::cuda {

// Fills in all functions, which stay valid for the life of the process. Returns false with the
// `reason` if there is no usable CUPTI.
bool load_cupti(Functions& functions, std::string& reason);

}  // namespace timeloom::cuda
