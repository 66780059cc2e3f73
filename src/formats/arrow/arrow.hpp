// Tables as an Arrow IPC file (Feather V2): columns that pandas, polars, pyarrow and duckdb use
// without conversion. docs/convert.md describes the columns. Texts are dictionaries.
//
// Streams: memory holds one batch of rows for each thread. Any thread may use kFormat; its
// functions throw Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::arrow {

extern const exchange::Format kFormat;

}  // namespace timeloom::arrow
