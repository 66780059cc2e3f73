// Text between Python and C++, and names of files. Needs the GIL.
#pragma once

#include <string>
#include <vector>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// ---- As the operating system has it, bytes: surrogates become the bytes they stand for. Throws
// PythonError.

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
PyObject* list_of(const std::vector<std::string>& words);  // null with an exception set on failure

// ---- As runs have it, UTF-8. Throws std::bad_alloc alone.

// The text of a str object; characters that UTF-8 cannot hold are escaped, zeros as well.
std::string utf8_text(PyObject* object);
// The same of names of files and words of command lines: characters that the locale could not
// decode become the original bytes.
std::string file_text(PyObject* name);
// `file` with the current directory before it, unless it is not a file (<string>).
std::string absolute_file(std::string file);

}  // namespace timeloom::python
