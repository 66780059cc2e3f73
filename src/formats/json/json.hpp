// Tables as JSON: a list of objects, one for each row and on its own line. docs/convert.md
// describes them.
//
// Any thread may use kFormat; its functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::json {

extern const exchange::Format kFormat;

}  // namespace timeloom::json
