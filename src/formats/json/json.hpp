// Tables as JSON: a list of objects, one a row and a line. docs/convert.md says what they hold.
//
// Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::json {

extern const exchange::Format kFormat;

}  // namespace timeloom::json
