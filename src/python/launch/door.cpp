#include "python/launch/door.hpp"

#include <string>

#include "core/error.hpp"

namespace timeloom::python {

#define TIMELOOM_DOOR(Name) extern const Door k##Name##Door;
#include "doors/launch.inc"
#undef TIMELOOM_DOOR

std::span<const Door* const> all_doors() noexcept {
#define TIMELOOM_DOOR(Name) &k##Name##Door,
  static constexpr const Door* kDoors[] = {
#include "doors/launch.inc"
  };
#undef TIMELOOM_DOOR
  return kDoors;
}

const Door& find_door(std::string_view name) {
  for (const Door* door : all_doors()) {
    if (door->name == name) return *door;
  }
  throw Error("this Timeloom was built without its door '" + std::string(name) +
              "'; build it with the door in TIMELOOM_DOORS [TL123]");
}

}  // namespace timeloom::python
