// Functions that Python calls at exit. Needs the GIL; false with a Python exception set.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// The module `atexit` does not stay in sys.modules, where the program would not find it under
// plain python.
bool register_at_exit(PyObject* function);
bool unregister_at_exit(PyObject* function);

}  // namespace timeloom::python
