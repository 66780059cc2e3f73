// `omnitrace-python` and `python -m omnitrace`, also by the names of its successor: Omnitrace's
// Python profiling.
#include "python/launch/door.hpp"

namespace timeloom::python {
namespace {

constexpr DoorSetting kSettings[] = {{"layout", "omnitrace"},
                                     {"region-names", "omnitrace"},
                                     {"imports", "on"},
                                     {"waiting", "off"},
                                     {"quiet", "on"}};
constexpr std::string_view kModules[] = {"omnitrace", "rocprofsys"};
constexpr std::string_view kCommands[] = {"omnitrace-python", "rocprof-sys-python"};

}  // namespace

extern const Door kOmnitraceDoor;
const Door kOmnitraceDoor{.name = "omnitrace",
                          .modules = kModules,
                          .commands = kCommands,
                          .wrong_usage = 2,
                          .settings = kSettings};

}  // namespace timeloom::python
