// Joins a sub-interpreter to the measurement. Needs an attached thread state of the interpreter.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Observes the interpreter that `module`, timeloom._sub, was loaded in, until the measurement ends.
// False: it is not recorded.
bool join_measurement_from(PyObject* module) noexcept;
// Records the visit of a generator that is closed without being run. `generator`: suspended.
void visit_in_sub_interpreter(PyObject* generator) noexcept;

}  // namespace timeloom::python
