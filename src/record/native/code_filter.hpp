// Which functions of compiled code (compiled_code.hpp) are recorded: those that a filter leaves in.
// It sees two regions: the object that contains the function, whose file is its path, and whose
// name and group are the name of that file; and in it the function under its demangled name. The
// symbols of an object are read when a rule first needs a name in it. Any thread.
#pragma once

#include "core/filter/filter.hpp"

namespace timeloom::record {

// From here on, also in the running measurement. Throws std::bad_alloc.
void filter_code(const Filter& filter);

}  // namespace timeloom::record
