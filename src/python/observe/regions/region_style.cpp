#include "python/observe/regions/region_style.hpp"

#include "core/error.hpp"

namespace timeloom::python {

#define TIMELOOM_DOOR(Name) extern const RegionStyle k##Name##Names;
#include "doors/launch.inc"
#undef TIMELOOM_DOOR

const RegionStyle& find_region_style(std::string_view name) {
#define TIMELOOM_DOOR(Name) &k##Name##Names,
  static constexpr const RegionStyle* kStyles[] = {
#include "doors/launch.inc"
  };
#undef TIMELOOM_DOOR
  for (const RegionStyle* style : kStyles) {
    if (style->name == name) return *style;
  }
  throw Error("region-names=" + std::string(name) + ": this Timeloom was built without its door '" +
              std::string(name) +
              "'; choose other names, or build it with the door in TIMELOOM_DOORS [TL123]");
}

}  // namespace timeloom::python
