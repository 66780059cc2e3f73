// The JSON format of Chrome's trace viewer (Trace Event Format), which Perfetto and many other
// tools read. docs/convert.md describes the contents.
//
// Streams: memory does not grow with the number of events. Any thread may use kFormat; its
// functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::chrome {

extern const exchange::Format kFormat;

}  // namespace timeloom::chrome
