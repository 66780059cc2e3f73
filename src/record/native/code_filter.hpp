// Which functions of compiled code (compiled_code.hpp) are recorded: those that a filter leaves in.
// It sees a function as a region whose file is the path of the object that contains it, and whose
// name and group are the name of that file. Any thread.
#pragma once

#include "core/filter/filter.hpp"

namespace timeloom::record {

// From here on, also in the running measurement. Throws std::bad_alloc.
void filter_code(const Filter& filter);

}  // namespace timeloom::record
