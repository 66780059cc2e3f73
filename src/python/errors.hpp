// timeloom.Error, raised when measuring cannot be done as asked. Needs the GIL.
#pragma once

#include "python/compat.hpp"

namespace timeloom::python {

extern PyObject* g_error;
int add_error(PyObject* module);  // -1 on failure

}  // namespace timeloom::python
