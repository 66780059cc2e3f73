#include "python/launch/door.hpp"

#include <stdexcept>
#include <string>

namespace timeloom::python {

const Door& find_door(std::string_view name) {
  for (const Door* door : {&kTimeloomDoor, &kScorepDoor, &kOmnitraceDoor}) {
    if (door->name == name) return *door;
  }
  throw std::logic_error("no door is called " + std::string(name));
}

}  // namespace timeloom::python
