// `timeloom run` and `python -m timeloom`.
#include "python/launch/door.hpp"

namespace timeloom::python {
namespace {

constexpr std::string_view kTimeloomModules[] = {"timeloom"};

}  // namespace

const Door kTimeloomDoor{.name = "timeloom",
                         .modules = kTimeloomModules,
                         .commands = {},
                         .wrong_usage = 2,
                         .settings = {},
                         .no_such_word =
                             "; no Python program on PATH has this name either (commands of "
                             "Timeloom are written without "
                             "python -m, such as timeloom report)"};

}  // namespace timeloom::python
