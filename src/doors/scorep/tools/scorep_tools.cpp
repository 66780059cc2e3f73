// What the door Score-P adds to the program: the commands that its users and their scripts call.
#include "core/run_properties.hpp"
#include "doors/scorep/tools/scorep_commands.hpp"
#include "tools/door_tools.hpp"

namespace timeloom::tools {

extern const DoorTools kScorepTools;
const DoorTools kScorepTools{
    .layout = kScorepLayoutName, .commands = [](CLI::App& program) -> std::vector<Command> {
      return {register_scorep_info(program), register_scorep_config(program),
              register_scorep_preload(program)};
    }};

}  // namespace timeloom::tools
