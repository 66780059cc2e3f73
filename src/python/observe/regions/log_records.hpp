// Records of Python's logging as marks on the timeline (--logging LEVEL).
//
// logging.Logger.callHandlers gets each record that its logger lets through. It is watched
// (watched.hpp), so nothing of logging is replaced, and programs that do not log pay nothing.
#pragma once

#include <string_view>

namespace timeloom::python {

// Marks records from `level` on: one of debug, info, warning, error, critical; "off": none.
// Before the first code object is seen. Needs the GIL. Throws std::bad_alloc.
void watch_log_records(std::string_view level);

}  // namespace timeloom::python
