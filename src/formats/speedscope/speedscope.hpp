// speedscope's own format: one profile for each thread, with every call of a trace or the call
// paths of a profile. docs/convert.md describes the contents.
//
// Streams: memory does not grow with the number of events. Any thread may use kFormat; its
// functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::speedscope {

extern const exchange::Format kFormat;

}  // namespace timeloom::speedscope
