// The source lines of a function, for `timeloom report --function NAME --with-source`: read as the
// viewer reads them (view/answers/source_files.hpp).
//
// Plain functions. Used by one thread; they throw Error when a folder cannot be opened.
#pragma once

#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"
#include "view/answers/source_files.hpp"

namespace timeloom::tools {

// The lines of the region, from files below the working folder and the others.
view::SourceLines source_of(const Definitions& definitions, RegionId region,
                            const std::vector<std::string>& folders);

void write_source(const view::SourceLines& lines, const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
