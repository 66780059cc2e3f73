// Chooses the functions of compiled code (compiled_code.hpp) that are recorded, by a filter. It
// sees two regions: the object that contains the function, whose file is its path, and whose name
// and group are the name of that file; and in it the function under its demangled name. The symbols
// of an object are read when a rule first needs a name in it. Where rules for files are to be
// compared with source files, too, its lines are read as well: by libdw, which is loaded here,
// before there is a function to decide about, since the dynamic linker may hold its lock then. Any
// thread.
#pragma once

#include "core/filter/filter.hpp"

namespace timeloom::record {

// From here on, also in the running measurement. `by_source`: rules for files are compared with the
// source files of functions, where libdw and the lines of their objects are there. Throws
// std::bad_alloc.
void filter_code(const Filter& filter, bool by_source);

}  // namespace timeloom::record
