// `scorep-info`: what users of Score-P ask their installation.
#include "doors/scorep/settings/scorep_settings.hpp"
#include "doors/scorep/tools/scorep_commands.hpp"
#include "tools/command_options.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

namespace {

constexpr char kInfoUsage[] = R"(Usage: scorep-info COMMAND [options]

Says of this installation what users and scripts of Score-P ask theirs.

Commands:
  config-vars     the names of the SCOREP_ variables
  config-summary  what of Score-P there is

Options:
  --full      with config-vars: also their meanings, types and defaults
  -h, --help  print this help

Exit status: 0 done, 1 something was wrong.
)";

int run_info(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words.front();
  if (command == "--help" || command == "-h") return print(kInfoUsage);
  const bool full = words.size() == 2 && words[1] == "--full";
  if (command == "config-vars" && (words.size() == 1 || full)) {
    return print(scorep_variables_text(full));
  }
  if (command == "config-summary" && words.size() == 1) return print(scorep_summary_text());
  print_line("scorep-info: " +
             (words.empty() ? "a command is missing" : "unknown '" + words.back() + "'") +
             "; write config-vars, config-vars --full or config-summary");
  return kFailed;
}

}  // namespace

Command register_scorep_info(CLI::App& program) {
  CommandOptions known(program, "scorep-info", "Variables and versions, as Score-P prints them");
  known.hide();
  return {known.app(), [] { return run_info({}); }, run_info};
}

}  // namespace timeloom::tools
