// The timeline of a run in characters, for a terminal: a strip for each track, and a flame graph of
// all.
//
// Used by one thread; throws Error when the output cannot be written or the index is damaged.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"
#include "view/index/index.hpp"

namespace timeloom::tools {

void write_timeline(const Definitions& definitions, const view::Index& index,
                    const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
