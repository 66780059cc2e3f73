// The formats that `timeloom convert` writes.
//
// Plain values, for any thread.
#pragma once

#include <vector>

#include "exchange/export_format.hpp"

namespace timeloom::tools {

// The formats of src/formats and of doors, in the order of the help.
std::vector<const exchange::Format*> convert_formats();

}  // namespace timeloom::tools
