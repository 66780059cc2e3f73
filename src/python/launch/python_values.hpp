// Settings that Python hands in: keyword arguments, and the table of pyproject.toml. Needs
// the GIL.
#pragma once

#include <string>

#include "python/interpreter/compat.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// Sets the settings in a dict: their names, with _ or -, and str, bool, int or a path; for lists of
// patterns also a list or tuple of str. `where` opens the origin of each, before its name. Throws
// Error for a name or value that is not accepted, and PythonError.
void apply_values(PyObject* dict, Settings& settings, const std::string& where);

}  // namespace timeloom::python
