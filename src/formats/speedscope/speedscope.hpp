// speedscope's own format: one profile a thread, of every call, or of a profile its call paths.
// docs/convert.md says what it holds.
//
// Streams: memory does not grow with the number of events. Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::speedscope {

extern const exchange::Format kFormat;

}  // namespace timeloom::speedscope
