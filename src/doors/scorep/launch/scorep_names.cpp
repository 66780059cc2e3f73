// Names of regions as Score-P has them: the choice scorep of region-names.
#include "python/observe/regions/region_style.hpp"

namespace timeloom::python {
namespace {

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
bool is_thread_bootstrap(std::string_view name) {
  return name == "threading.Thread._bootstrap" || name == "threading.Thread._bootstrap_inner";
}

// The group is all that is in front of the colon. Score-P has no other name; ours stays, since
// filter files may have it.
void finish_as_scorep(Region& region) {
  region.group = region.name.substr(0, region.name.find(':'));
}

}  // namespace

extern const RegionStyle kScorepNames;
const RegionStyle kScorepNames{.name = "scorep",
                               .function_name = scorep_name,
                               .functions = Paradigm::kUser,
                               .user_regions = RegionRole::kFunction,
                               .absolute_files = true,
                               .hides = is_thread_bootstrap,
                               .finish = finish_as_scorep};

}  // namespace timeloom::python
