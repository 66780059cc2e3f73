#include "python/observe/regions/region_style.hpp"

#include <stdexcept>

namespace timeloom::python {
namespace {

std::string qualified_name(const std::string& module, std::string_view qualified) {
  return module.empty() ? std::string(qualified) : module + "." + std::string(qualified);
}

// As the Python bindings of Score-P have it: the module, the classes that the function is
// defined in, a colon, its name. Functions around it are not named.
std::string scorep_name(const std::string& module, std::string_view qualified) {
  constexpr std::string_view kLocals = "<locals>.";
  const std::size_t locals = qualified.rfind(kLocals);
  if (locals != std::string_view::npos) qualified.remove_prefix(locals + kLocals.size());
  const std::size_t dot = qualified.rfind('.');
  std::string name = module.empty() ? "unknown" : module;
  if (dot == std::string_view::npos) return name + ":" + std::string(qualified);
  name += "." + std::string(qualified.substr(0, dot));
  return name + ":" + std::string(qualified.substr(dot + 1));
}

// The functions of a thread that Score-P does not see: it observes from inside of these on.
bool is_bootstrap(std::string_view name) {
  return name == "threading.Thread._bootstrap" || name == "threading.Thread._bootstrap_inner";
}

bool is_of_launcher(std::string_view name) {
  return is_bootstrap(name) || name.starts_with("runpy._run_");
}

std::string last_name(const std::string&, std::string_view qualified) {
  return std::string(qualified.substr(qualified.rfind('.') + 1));
}

// The group is all that is in front of the colon. Score-P has no other name; ours stays, since
// filter files may have it.
void finish_as_scorep(Region& region) {
  region.group = region.name.substr(0, region.name.find(':'));
}

}  // namespace

const RegionStyle kQualifiedNames{.name = "qualified",
                                  .function_name = qualified_name,
                                  .functions = Paradigm::kCompiler,
                                  .user_regions = RegionRole::kCode,
                                  .absolute_files = false,
                                  .hides = [](std::string_view) { return false; },
                                  .finish = [](Region&) {}};
const RegionStyle kScorepNames{.name = "scorep",
                               .function_name = scorep_name,
                               .functions = Paradigm::kUser,
                               .user_regions = RegionRole::kFunction,
                               .absolute_files = true,
                               .hides = is_bootstrap,
                               .finish = finish_as_scorep};
const RegionStyle kOmnitraceNames{.name = "omnitrace",
                                  .function_name = last_name,
                                  .functions = Paradigm::kCompiler,
                                  .user_regions = RegionRole::kCode,
                                  .absolute_files = false,
                                  .hides = is_of_launcher,
                                  .finish = [](Region&) {},
                                  .label = label_of};

const RegionStyle& find_region_style(std::string_view name) {
  for (const RegionStyle* style : {&kQualifiedNames, &kScorepNames, &kOmnitraceNames}) {
    if (style->name == name) return *style;
  }
  throw std::logic_error("no region-names are called " + std::string(name));
}

}  // namespace timeloom::python
