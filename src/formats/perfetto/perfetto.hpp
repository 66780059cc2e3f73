// Perfetto's own format: a protobuf message Trace, packet by packet. docs/convert.md describes the
// contents.
//
// Streams: memory does not grow with the number of events. Any thread may use kFormat; its
// functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::perfetto {

extern const exchange::Format kFormat;

}  // namespace timeloom::perfetto
