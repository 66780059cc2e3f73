// The files that cProfile writes and Python's pstats module reads: a marshalled dictionary of
// functions with their callers. docs/convert.md describes the contents.
//
// Any thread may use kFormat; its functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::pstats {

extern const exchange::Format kFormat;

}  // namespace timeloom::pstats
