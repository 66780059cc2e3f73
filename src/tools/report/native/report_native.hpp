// `timeloom report --native`: CPU time by library and function of compiled code, over all callers.
//
// Plain functions; they throw Error as Output does.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "tools/report/native/native_times.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

void write_native(const NativeTimes& times, const Definitions& definitions,
                  const Terminal& terminal, Output& output);
void write_native_json(const NativeTimes& times, const Definitions& definitions, Output& output);

// A line below a function, of `room` columns: "libopenblas: dgemm_kernel 63%, libc: memcpy 11%";
// empty: there are too few samples to tell.
std::string native_line(const NativeShares& shares, std::size_t room, const Terminal& terminal);

// The table of a function's own time in compiled code; nothing where it has no samples.
void write_native_of_function(const NativeShares& shares, const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
