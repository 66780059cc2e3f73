// The files of Omnitrace's Python profiling, for `timeloom convert --to omnitrace`: a directory,
// which src/doors/omnitrace/tools/omnitrace_files.hpp fills. docs/omnitrace.md describes them.
//
// Any thread may use kFormat.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::omnitrace {

extern const exchange::Format kFormat;

}  // namespace timeloom::omnitrace
