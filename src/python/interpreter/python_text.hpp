// Text between Python and C++: as the operating system has it, bytes; surrogates
// become the bytes they stand for. Needs the GIL; throws PythonError.
#pragma once

#include <string>
#include <vector>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// The object itself; throws PythonError where it is null.
PyObject* checked(PyObject* object);

// Whether the object, which may be null, is a str with this ASCII text.
inline bool is_text(PyObject* object, const char* text) noexcept {
  return object != nullptr && PyUnicode_Check(object) &&
         PyUnicode_CompareWithASCIIString(object, text) == 0;
}

std::string bytes_of(PyObject* text);
PyObject* object_of(const std::string& bytes);  // null with an exception set on failure
std::vector<std::string> words_of(PyObject* sequence);

}  // namespace timeloom::python
