// `omnitrace-python` and `python -m omnitrace`, also by the names of its successor: Omnitrace's
// Python profiling.
#include "python/launch/door.hpp"

namespace timeloom::python {
namespace {

constexpr DoorSetting kOmnitraceOverrides[] = {
    {kSettings.layout, "omnitrace"}, {kSettings.region_names, "omnitrace"},
    {kSettings.imports, "on"},       {kSettings.engine_functions, "on"},
    {kSettings.waiting, "off"},      {kSettings.quiet, "on"}};
// Collections of garbage are in no table of Omnitrace.
constexpr DoorSetting kOmnitraceDefaults[] = {{kSettings.gc, "off"}};
constexpr std::string_view kOmnitraceModules[] = {"omnitrace", "rocprofsys"};
constexpr std::string_view kOmnitraceCommands[] = {"omnitrace-python", "rocprof-sys-python"};

}  // namespace

extern const Door kOmnitraceDoor;
const Door kOmnitraceDoor{.name = "omnitrace",
                          .modules = kOmnitraceModules,
                          .commands = kOmnitraceCommands,
                          .wrong_usage = 2,
                          .settings = kOmnitraceOverrides,
                          .defaults = kOmnitraceDefaults};

}  // namespace timeloom::python
