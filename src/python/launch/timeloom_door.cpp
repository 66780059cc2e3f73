// `timeloom run` and `python -m timeloom`.
#include "python/launch/door.hpp"

namespace timeloom::python {

const Door kTimeloomDoor{.name = "timeloom", .command = {}, .wrong_usage = 2, .settings = {}};

}  // namespace timeloom::python
