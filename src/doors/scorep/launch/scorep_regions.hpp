// The types of timeloom._core on which the package scorep (python/doors/scorep) is built. Needs the
// GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// -1 with a Python exception set.
int add_scorep_types(PyObject* module);

}  // namespace timeloom::python
