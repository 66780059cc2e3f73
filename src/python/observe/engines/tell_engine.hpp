// Calls of our modules in Python that prepare an engine's objects for recording. Needs the GIL.
#pragma once

#include <Python.h>

namespace timeloom::python {

// Calls a function of a module of ours, with the argument if there is one. Without effect where the
// library differs from the known versions, and for the commands of other tools, whose results have
// no such regions.
void tell_engine(const char* module, const char* function, PyObject* argument) noexcept;

}  // namespace timeloom::python
