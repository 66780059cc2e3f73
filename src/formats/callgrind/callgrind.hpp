// The format of Valgrind's callgrind: functions with their time, visits and calls, a part for each
// thread. docs/convert.md says what it holds.
//
// Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::callgrind {

extern const exchange::Format kFormat;

}  // namespace timeloom::callgrind
