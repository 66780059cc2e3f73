// The description of a run for the viewer's page: docs/formats/view-http.md.
//
// A pure function. Throws only std::bad_alloc.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "view/index/index.hpp"

namespace timeloom::tools {

// JSON. `index` may be null: then some facts are missing. REQUIRES: `marks` is JSON.
std::string describe_for_viewer(const Definitions& definitions, const std::string& title,
                                const view::Index* index, const std::string& marks);

}  // namespace timeloom::tools
