// `python -m scorep`: the Python bindings of Score-P.
#include "python/launch/door.hpp"

namespace timeloom::python {
namespace {

constexpr DoorSetting kSettings[] = {{"layout", "scorep"},         {"region-names", "scorep"},
                                     {"location-names", "scorep"}, {"imports", "on"},
                                     {"waiting", "off"},           {"quiet", "on"}};

// A launcher asks for nothing: only --mpp=mpi does.
constexpr DoorSetting kDefaults[] = {{"mpi", "off"}};

constexpr std::string_view kModules[] = {"scorep"};
constexpr std::string_view kCommands[] = {"scorep-python"};

}  // namespace

const Door kScorepDoor{.name = "scorep",
                       .modules = kModules,
                       .commands = kCommands,
                       .wrong_usage = 1,
                       .settings = kSettings,
                       .directory = DirectoryRules::kVariables,
                       .defaults = kDefaults,
                       .mpi_option = "--mpp=mpi"};

}  // namespace timeloom::python
