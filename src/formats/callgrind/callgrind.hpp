// The format of Valgrind's callgrind: functions with their time, visits and calls, and a part for
// each thread. docs/convert.md describes the contents.
//
// Any thread may use kFormat; its functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::callgrind {

extern const exchange::Format kFormat;

}  // namespace timeloom::callgrind
