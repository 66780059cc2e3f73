// Finds the calls of Python functions for which the interpreter does not ask a frame hook (PEP
// 523), by making some calls. It should ask for all of them, but 3.11.2 does not once it has
// specialised object[key] for a __getitem__ in Python; 3.11.7 does.
//
// Needs the GIL. Tried once in a process, which takes less than a millisecond.
#pragma once

#include <string>

namespace timeloom::python {

// The names of such functions, with commas in between; empty: the hook is asked for every call, as
// far as is known. Throws std::bad_alloc.
const std::string& calls_kept_from_hook();

}  // namespace timeloom::python
