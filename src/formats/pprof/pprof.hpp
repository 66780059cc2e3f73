// The profile.proto of pprof, compressed: call paths with visits and time. docs/convert.md
// describes the contents.
//
// Any thread may use kFormat; its functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::pprof {

extern const exchange::Format kFormat;

}  // namespace timeloom::pprof
