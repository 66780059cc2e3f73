// Names of regions as Omnitrace's Python profiling has them: the choice omnitrace of region-names.
#include "python/observe/regions/region_style.hpp"

namespace timeloom::python {
namespace {

bool is_of_launcher(std::string_view name) {
  return name == "threading.Thread._bootstrap" || name == "threading.Thread._bootstrap_inner" ||
         name.starts_with("runpy._run_");
}

std::string bare_name(const std::string&, std::string_view qualified) {
  return std::string(qualified.substr(qualified.rfind('.') + 1));
}

}  // namespace

extern const RegionStyle kOmnitraceNames;
const RegionStyle kOmnitraceNames{.name = "omnitrace",
                                  .function_name = bare_name,
                                  .functions = Paradigm::kCompiler,
                                  .user_regions = RegionRole::kCode,
                                  .absolute_files = false,
                                  .hides = is_of_launcher,
                                  .finish = [](Region&) {},
                                  .label = label_of};

}  // namespace timeloom::python
