// Tables as CSV (RFC 4180), with a line of names. docs/convert.md says what they hold.
//
// Any thread may use the value.
#pragma once

#include <memory>

#include "exchange/event_table.hpp"
#include "exchange/export_format.hpp"

namespace timeloom::csv {

extern const exchange::Format kFormat;

// A table of its own. `out` outlives it.
std::unique_ptr<exchange::TableFormat> table_of(exchange::Destination& out);

}  // namespace timeloom::csv
