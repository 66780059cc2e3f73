#include "doors/omnitrace/format/omnitrace.hpp"

namespace timeloom::omnitrace {

const exchange::Format kFormat = {
    .name = "omnitrace",
    .suffix = "",
    .opened_by = "any editor, hatchet, https://ui.perfetto.dev",
    .directory = true,
};

}  // namespace timeloom::omnitrace
