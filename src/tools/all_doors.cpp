// The doors of this build that add something to the program: TIMELOOM_DOORS of CMake.
#include <iterator>

#include "tools/door_tools.hpp"

namespace timeloom::tools {

#define TIMELOOM_DOOR(Name) extern const DoorTools k##Name##Tools;
#include "doors/tools.inc"
#undef TIMELOOM_DOOR

std::span<const DoorTools* const> all_doors() {
#define TIMELOOM_DOOR(Name) &k##Name##Tools,
  static constexpr const DoorTools* kDoors[] = {
#include "doors/tools.inc"
      nullptr};
#undef TIMELOOM_DOOR
  return std::span(kDoors).first(std::size(kDoors) - 1);
}

}  // namespace timeloom::tools
