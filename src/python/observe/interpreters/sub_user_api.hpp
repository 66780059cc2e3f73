// The functions of timeloom._sub by which the program of a sub-interpreter marks regions and
// records values, as native code does: through the C interface. Needs the GIL of the interpreter.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Adds them to the module; -1 with a Python exception set.
int add_sub_user_api(PyObject* module);
// Frees the names of its regions. Called when the module is freed.
void forget_sub_regions(PyObject* module) noexcept;

}  // namespace timeloom::python
