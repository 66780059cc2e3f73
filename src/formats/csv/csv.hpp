// Tables as CSV (RFC 4180), with a line of names. docs/convert.md says what they hold.
//
// Any thread may use the value.
#pragma once

#include <memory>

#include "convert/event_table.hpp"
#include "convert/export_format.hpp"

namespace timeloom::csv {

extern const convert::Format kFormat;

// A table of its own. `out` outlives it.
std::unique_ptr<convert::TableFormat> table_of(convert::Destination& out);

}  // namespace timeloom::csv
