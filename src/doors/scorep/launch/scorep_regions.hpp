// The types of timeloom._core that the package scorep is made of. Needs the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// -1 with a Python exception set.
int add_scorep_types(PyObject* module);

}  // namespace timeloom::python
