// Tables as CSV (RFC 4180), with a line of names. docs/convert.md says what they hold.
//
// Any thread may use the value.
#pragma once

#include "convert/format.hpp"

namespace timeloom::csv {

extern const convert::Format kFormat;

}  // namespace timeloom::csv
