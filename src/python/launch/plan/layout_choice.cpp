#include "python/launch/plan/layout_choice.hpp"

#include "core/error.hpp"

namespace timeloom::python {

#define TIMELOOM_DOOR(Name) extern const LaunchLayout k##Name##Launch;
#include "doors/launch.inc"
#undef TIMELOOM_DOOR

const LaunchLayout& layout_of(const Settings& settings) {
#define TIMELOOM_DOOR(Name) &k##Name##Launch,
  static constexpr const LaunchLayout* kLayouts[] = {
#include "doors/launch.inc"
  };
#undef TIMELOOM_DOOR
  const std::string name = settings.text(kSettings.layout);
  for (const LaunchLayout* one : kLayouts) {
    if (one->layout.name == name) return *one;
  }
  throw Error(settings.origin(kSettings.layout) + ": this Timeloom was built without its door '" +
              name +
              "'; choose another layout, or build it with the door in TIMELOOM_DOORS [TL123]");
}

}  // namespace timeloom::python
