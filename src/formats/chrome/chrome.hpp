// The JSON of Chrome's trace viewer (Trace Event Format), which Perfetto and many others read.
// docs/convert.md says what it holds.
//
// Streams: memory does not grow with the number of events. Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::chrome {

extern const exchange::Format kFormat;

}  // namespace timeloom::chrome
