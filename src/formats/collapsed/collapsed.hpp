// Folded stacks, a line a call path: what flamegraph.pl, inferno and speedscope read. Of two runs,
// both values, as difffolded.pl writes them. docs/convert.md says what it holds.
//
// Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::collapsed {

extern const exchange::Format kFormat;

}  // namespace timeloom::collapsed
