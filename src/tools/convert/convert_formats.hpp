// The formats that `timeloom convert` writes.
//
// Plain values, for any thread.
#pragma once

#include <vector>

#include "exchange/export_format.hpp"

namespace timeloom::tools {

// Those of src/formats and those of doors, in the order of the help.
std::vector<const exchange::Format*> convert_formats();

}  // namespace timeloom::tools
