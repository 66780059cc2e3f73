#include "python/observe/engines/tell_engine.hpp"

#include "python/interpreter/errors.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/region_style.hpp"

namespace timeloom::python {

void tell_engine(const char* module, const char* function, PyObject* argument) noexcept {
  if (&region_style() != &kTimeloomNames) return;
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref kept = argument == nullptr ? Ref() : Ref::borrow(argument);
  const Ref engine(PyImport_ImportModule(module));
  const Ref called(engine ? PyObject_GetAttrString(engine.get(), function) : nullptr);
  const Ref told(called ? PyObject_CallFunctionObjArgs(called.get(), kept.get(), nullptr)
                        : nullptr);
  if (told) return;
  // Ctrl-C came meanwhile: it is the program's.
  const bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyErr_Clear();
  if (interrupted) PyErr_SetInterrupt();
}

}  // namespace timeloom::python
