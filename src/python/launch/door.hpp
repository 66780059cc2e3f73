// A door: a command by which a user starts a program under Timeloom, with the names and
// conventions of the tool that it stands for.
//
// Constant values, for any thread. Each folder src/doors/NAME/launch has one, kNameDoor, and
// CMake's TIMELOOM_DOORS lists the built ones. Only the launcher knows by which door the user came.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "python/interpreter/compat.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// The rules that choose the directory of a run whose layout has variables of its own, and decide
// what becomes of another run that is there already.
enum class DirectoryRules : std::uint8_t {
  kOutput,     // the settings output and force
  kVariables,  // those variables; output where they name no directory
};

// The origin of a setting that a door's `defaults` have made.
inline constexpr char kDoorDefault[] = "the door";

struct DoorSetting {
  SettingId id;
  std::string_view value;
};

struct Door {
  std::string_view name;                      // opens our lines on stderr
  std::span<const std::string_view> modules;  // that `python -m` starts it by
  // Scripts that call the main() of the module; also with -X.Y behind the name.
  std::span<const std::string_view> commands;
  int wrong_usage;                        // exit status
  std::span<const DoorSetting> settings;  // take precedence over all other sources
  DirectoryRules directory = DirectoryRules::kOutput;
  std::span<const DoorSetting> defaults = {};  // if no source sets them
  std::string_view mpi_option = {};  // by which alone MPI is recorded; empty: a launcher asks, too
  std::string_view no_such_word = {};  // the end of the error if a bare word is not a script
  // Adds to timeloom._core what its package needs; -1 with a Python exception set. Null: nothing.
  int (*add_to_module)(PyObject* module) = nullptr;
};

extern const Door kTimeloomDoor;  // the one that is always there

// The doors of this build.
std::span<const Door* const> all_doors() noexcept;
// Throws Error where this build has no such door.
const Door& find_door(std::string_view name);

}  // namespace timeloom::python
