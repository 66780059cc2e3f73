// Tables as an Arrow IPC file (Feather V2): columns that pandas, polars, pyarrow and duckdb take as
// they are. docs/convert.md says what they hold. Texts are dictionaries.
//
// Streams: memory holds one batch of rows a thread. Any thread may use the value.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::arrow {

extern const exchange::Format kFormat;

}  // namespace timeloom::arrow
