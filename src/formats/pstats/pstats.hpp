// The files that cProfile writes and Python's module pstats reads: a marshalled dictionary of
// functions, with their callers. docs/convert.md says what it holds.
//
// Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::pstats {

extern const exchange::Format kFormat;

}  // namespace timeloom::pstats
