// Perfetto's own format: a protobuf message Trace, packet by packet. docs/convert.md says what it
// holds.
//
// Streams: memory does not grow with the number of events. Any thread may use the value.
#pragma once

#include "convert/export_format.hpp"

namespace timeloom::perfetto {

extern const convert::Format kFormat;

}  // namespace timeloom::perfetto
