// The module that a file belongs to, for functions that run without the globals of one, as
// functions of Cython and numba do. Needs the GIL, or on builds without one a CriticalSection; runs
// no code of the program, and leaves no exception.
#pragma once

#include <string>

namespace timeloom::python {

// The name of the loaded module whose file this is, or else of the extension that was made from it:
// of several with this name, the one in the same folders (for src/pkg/kern.pyx, pkg/kern.so before
// other/kern.so). If there is none, or the choice is not clear, the file's own name without its
// suffix ("kern"); empty for no file ("<string>"). `file`: as a code object has it, so it may be
// relative to any directory. Throws std::bad_alloc.
std::string module_of_file(const std::string& file);

}  // namespace timeloom::python
