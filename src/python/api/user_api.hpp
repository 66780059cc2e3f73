// The functions of timeloom's user API, without its types. They need the GIL.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// region_begin, region_end, parameter_*, counter, marker; ends with a null entry.
extern PyMethodDef kUserApiMethods[];
// arrow_stream; ends with a null entry.
extern PyMethodDef kArrowMethods[];

}  // namespace timeloom::python
