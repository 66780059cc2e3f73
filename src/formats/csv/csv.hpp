// Tables as CSV (RFC 4180), with a line of column names. docs/convert.md describes the columns.
//
// Any thread may use kFormat; its functions throw Error.
#pragma once

#include <memory>

#include "exchange/event_table.hpp"
#include "exchange/export_format.hpp"

namespace timeloom::csv {

extern const exchange::Format kFormat;

// Writes one table as CSV into `out`, which outlives the result. Throws Error.
std::unique_ptr<exchange::TableFormat> table_of(exchange::Destination& out);

}  // namespace timeloom::csv
