#include "tools/commands.hpp"

namespace timeloom::tools {

std::vector<Command> register_commands(CLI::App& program) {
  return {
      register_run(program),           register_report(program),
      register_view(program),          register_info(program),
      register_weave(program),         register_score(program),
      register_diff(program),          register_check(program),
      register_convert(program),       register_scorep_info(program),
      register_scorep_config(program), register_scorep_preload(program),
      register_describe(program),
  };
}

}  // namespace timeloom::tools
