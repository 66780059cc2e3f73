// The regions of a place in the source, as reports and findings print it: "convoy.py:12".
//
// A pure function, for any thread; throws only std::bad_alloc.
#pragma once

#include <string>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom::tools {

// The innermost regions that contain the line. The path may lack its first directories. Empty: the
// text is not a place, or no region is there.
std::vector<RegionId> regions_at(const Definitions& definitions, const std::string& place);

}  // namespace timeloom::tools
