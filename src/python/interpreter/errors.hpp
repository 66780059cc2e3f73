// timeloom.Error, raised when a measurement cannot be made as requested; and the translation of C++
// exceptions into Python's. Needs the GIL.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// Thrown where a Python exception is set already; caught before Python is
// returned to.
struct PythonError {};

extern PyObject* g_error;
int add_error(PyObject* module);  // -1 on failure

// Sets timeloom.Error; the message may hold paths, so any bytes. Returns null.
PyObject* raise_error(const char* message) noexcept;

// The text of the Python exception that is set, which is cleared; the name of its
// type when it has none.
std::string take_exception_text();

// A method as CPython may call it: C++ exceptions that it throws become Python exceptions.
template <PyCFunction kMethod>
PyObject* guarded(PyObject* self, PyObject* arguments) noexcept {
  try {
    return kMethod(self, arguments);
  } catch (const PythonError&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    return raise_error(error.what());
  }
}

}  // namespace timeloom::python
