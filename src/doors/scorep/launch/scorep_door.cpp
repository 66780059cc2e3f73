// `python -m scorep`: the Python bindings of Score-P.
#include "doors/scorep/launch/scorep_regions.hpp"
#include "doors/scorep/settings/scorep_settings.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/door.hpp"
#include "python/launch/python_values.hpp"

namespace timeloom::python {
namespace {

constexpr DoorSetting kScorepOverrides[] = {{kSettings.layout, "scorep"},
                                            {kSettings.region_names, "scorep"},
                                            {kSettings.location_names, "scorep"},
                                            {kSettings.imports, "on"},
                                            {kSettings.engine_functions, "on"},
                                            {kSettings.waiting, "off"},
                                            {kSettings.quiet, "on"}};

// A launcher asks for nothing: only --mpp=mpi does. Collections of garbage are in no table of
// Score-P.
constexpr DoorSetting kDefaults[] = {{kSettings.mpi, "off"}, {kSettings.gc, "off"}};

constexpr std::string_view kScorepModules[] = {"scorep"};
constexpr std::string_view kScorepCommands[] = {"scorep-python"};

PyObject* scorep_summary(PyObject*, PyObject*) { return object_of(scorep_summary_text()); }

PyMethodDef kScorepMethods[] = {{"scorep_summary", guarded<scorep_summary>, METH_NOARGS,
                                 "The text of scorep-info config-summary."},
                                {nullptr, nullptr, 0, nullptr}};

int add_to_module(PyObject* module) {
  if (PyModule_AddFunctions(module, kScorepMethods) != 0) return -1;
  if (PyModule_AddStringConstant(module, "SCOREP_VERSION", kScorepVersion.data()) != 0) return -1;
  return add_scorep_types(module);
}

}  // namespace

extern const Door kScorepDoor;
const Door kScorepDoor{.name = "scorep",
                       .modules = kScorepModules,
                       .commands = kScorepCommands,
                       .wrong_usage = 1,
                       .settings = kScorepOverrides,
                       .directory = DirectoryRules::kVariables,
                       .defaults = kDefaults,
                       .mpi_option = "--mpp=mpi",
                       .add_to_module = add_to_module};

}  // namespace timeloom::python
