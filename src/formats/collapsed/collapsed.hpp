// Folded stacks, one line for each call path: the input of flamegraph.pl, inferno and speedscope.
// Comparisons of two runs have both values, as difffolded.pl writes them. docs/convert.md describes
// the contents.
//
// Any thread may use kFormat; its functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::collapsed {

extern const exchange::Format kFormat;

}  // namespace timeloom::collapsed
