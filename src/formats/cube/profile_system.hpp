// The run and the machine in a CUBE profile, which are written first.
//
// A plain function; any thread may call it. Throws only std::bad_alloc.
#pragma once

#include <vector>

#include "formats/cube/cube_profile.hpp"

namespace timeloom::cube {

// Adds attributes, processes and threads of the run to `cube`. REQUIRES: the cube has none yet.
// Returns, for each location, whether it is the first of its process.
std::vector<bool> add_system(const profile::CallTree& tree, const ProfileFacts& facts, Cube& cube);

}  // namespace timeloom::cube
