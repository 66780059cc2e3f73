// The run and the machine in a CUBE profile: the first part of writing one.
//
// A plain function; any thread may call it.
#pragma once

#include <vector>

#include "formats/cube/cube_profile.hpp"

namespace timeloom::cube {

// Adds attributes, processes and threads of the run to `cube`, which has none yet.
// Returns of each location whether it is the first of its process.
std::vector<bool> add_system(const profile::CallTree& tree, const ProfileFacts& facts, Cube& cube);

}  // namespace timeloom::cube
