#include "tools/door_tools.hpp"

#include <algorithm>

namespace timeloom::tools {

namespace {

std::span<const DoorTools* const> g_doors;

const DoorTools* found(auto matches) {
  const auto door = std::ranges::find_if(g_doors, matches);
  return door == g_doors.end() ? nullptr : *door;
}

}  // namespace

void set_door_tools(std::span<const DoorTools* const> doors) { g_doors = doors; }
std::span<const DoorTools* const> door_tools() { return g_doors; }

std::string plain_calls_note() {
  for (const DoorTools* door : g_doors) {
    if (door->plain_calls_note == nullptr) continue;
    if (std::string note = door->plain_calls_note(); !note.empty()) return note;
  }
  return {};
}

const DoorTools* door_of_layout(std::string_view layout) {
  return found([&](const DoorTools* door) { return door->layout == layout; });
}

const DoorTools* door_of_format(const exchange::Format& format) {
  return found([&](const DoorTools* door) {
    return std::ranges::find(door->formats, &format) != door->formats.end();
  });
}

}  // namespace timeloom::tools
