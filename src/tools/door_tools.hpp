// The parts that doors add to the program: formats, files that a weave makes, commands of other
// names.
//
// Constant values, one for each folder src/doors/NAME/tools. main() sets the list of them before
// anything else; after that for any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/commands.hpp"
#include "tools/convert/convert_run.hpp"

namespace timeloom::tools {

struct DoorTools {
  std::string_view layout;  // of the runs that are recorded through it
  // The formats of `timeloom convert` besides the formats of src/formats.
  std::span<const exchange::Format* const> formats = {};
  // Writes a format that is a directory of several files. `directory`: its path; none: the door's
  // own rules name it. Throws Error. Null: the door has no such format.
  void (*fill_directory)(const ConvertJob& job,
                         const std::optional<std::string>& directory) = nullptr;
  // Makes the door's files of a run that was woven just now, and prints errors. `own`: at the end
  // of the program that recorded it. Null: there are none.
  void (*after_weave)(const std::filesystem::path& run, bool own) = nullptr;
  // A line that tells how to get these files for a run that was woven later, by a command that
  // reads it. Null: the door has none.
  std::string (*files_note)(const std::filesystem::path& run) = nullptr;
  // A sentence if the environment asks for enters and leaves where an OTF2 archive would have
  // samples and calling contexts; else empty. Throws Error. Null: the door has no such request.
  std::string (*plain_calls_note)() = nullptr;
  // Programs of other names, not in the help. Null: none.
  std::vector<Command> (*commands)(CLI::App& program) = nullptr;
};

// The doors of this build; only the program has them (all_doors.cpp), tests have none.
std::span<const DoorTools* const> all_doors();
void set_door_tools(std::span<const DoorTools* const> doors);
std::span<const DoorTools* const> door_tools();
// The first such sentence of a door; empty: none asks for it.
std::string plain_calls_note();
// Null: no door of this build has that layout.
const DoorTools* door_of_layout(std::string_view layout);
// Null: the format belongs to no door.
const DoorTools* door_of_format(const exchange::Format& format);

}  // namespace timeloom::tools
