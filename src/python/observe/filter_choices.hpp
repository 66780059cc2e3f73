// The filter of a measurement, from its settings. Needs the GIL.
#pragma once

#include "core/filter.hpp"
#include "python/interpreter/compat.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// Reads and checks the file of --filter-file, if there is one, and puts its path and
// text into `dict`, the settings for this process and those that it starts: the
// program may go elsewhere, and the file change. Throws Error, or PythonError.
void take_filter_file(PyObject* dict, const Settings& settings);

// Throws Error, or PythonError.
Filter filter_of(PyObject* dict);

}  // namespace timeloom::python
