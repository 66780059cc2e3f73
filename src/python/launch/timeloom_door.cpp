// `timeloom run` and `python -m timeloom`.
#include "python/launch/door.hpp"

namespace timeloom::python {
namespace {

constexpr std::string_view kModules[] = {"timeloom"};

}  // namespace

const Door kTimeloomDoor{
    .name = "timeloom",
    .modules = kModules,
    .commands = {},
    .wrong_usage = 2,
    .settings = {},
    .no_such_word =
        " (for a command write timeloom run, timeloom report and so on, without python -m)"};

}  // namespace timeloom::python
