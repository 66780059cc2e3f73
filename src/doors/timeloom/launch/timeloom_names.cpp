// Names of regions as Python has them: the value `qualified` of region-names.
#include "python/observe/regions/region_style.hpp"

namespace timeloom::python {
namespace {

std::string qualified_name(const std::string& module, std::string_view qualified) {
  return module.empty() ? std::string(qualified) : module + "." + std::string(qualified);
}

}  // namespace

const RegionStyle kTimeloomNames{.name = "qualified",
                                 .function_name = qualified_name,
                                 .functions = Paradigm::kCompiler,
                                 .user_regions = RegionRole::kCode,
                                 .absolute_files = false,
                                 .hides = [](std::string_view) { return false; },
                                 .finish = [](Region&) {}};

}  // namespace timeloom::python
