// Reads the settings of a measurement, for all launchers: all sources, from the weakest to the
// strongest, and all checks. Needs the GIL.
#pragma once

#include <functional>

#include "python/interpreter/compat.hpp"
#include "settings/check.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// pyproject.toml, the variables, what `given` sets, and the variables of the layout. `pyproject`:
// None or (path, table). Warns of variables that resemble ours. Throws Error for settings that
// this Python cannot measure by, and PythonError.
Settings read_settings(PyObject* pyproject, const std::function<void(Settings&)>& given,
                       Measured measured);

}  // namespace timeloom::python
