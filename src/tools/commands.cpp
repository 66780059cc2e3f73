#include "tools/commands.hpp"

#include "tools/door_tools.hpp"

namespace timeloom::tools {

std::vector<Command> register_commands(CLI::App& program) {
  std::vector<Command> commands = {
      register_run(program),     register_attach(program),  register_report(program),
      register_view(program),    register_info(program),    register_weave(program),
      register_pack(program),    register_score(program),   register_diff(program),
      register_check(program),   register_convert(program), register_preload(program),
      register_explain(program), register_mcp(program),     register_top(program),
  };
  for (const DoorTools* door : door_tools()) {
    if (door->commands == nullptr) continue;
    for (Command& command : door->commands(program)) commands.push_back(std::move(command));
  }
  commands.push_back(register_describe(program));
  return commands;
}

}  // namespace timeloom::tools
