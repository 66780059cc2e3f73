// The filter of a measurement, from its settings. Needs the GIL; functions throw Error, or
// PythonError.
#pragma once

#include "core/filter/filter.hpp"
#include "python/interpreter/compat.hpp"
#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// Reads and checks the file of the setting filter-file, if there is one.
FilterSource read_filter_file(const Settings& settings);

Filter filter_of(const Settings& settings, const FilterSource& file);

}  // namespace timeloom::python
