// The subcommands of the program. Each is one file, <name>_command.cpp, with a
// function that registers it (its options, its help) and one that runs it. A
// new one is such a file, its declaration here and its line in commands.cpp.
//
// Used by the main thread only.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace timeloom::tools {

// Exit statuses of the program; `timeloom run` ends as the program it ran.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;      // something could not be read or done
inline constexpr int kWrongUsage = 2;  // the command line does not make sense

inline constexpr int kCannotTell = 4;  // the run cannot tell: it is incomplete, or an estimate

// A subcommand. `run` returns the exit status and throws Error.
struct Command {
  CLI::App* app;  // its options and its help; owned by the program's App
  std::function<int()> run;
  // Instead of `run`, for a command that parses its own command line: takes
  // whatever follows its name as it is.
  std::function<int(std::vector<std::string> arguments)> run_words = {};
};

Command register_run(CLI::App& program);
Command register_attach(CLI::App& program);
Command register_report(CLI::App& program);
Command register_info(CLI::App& program);
Command register_weave(CLI::App& program);
Command register_pack(CLI::App& program);
Command register_score(CLI::App& program);
Command register_diff(CLI::App& program);
Command register_convert(CLI::App& program);
Command register_preload(CLI::App& program);
Command register_explain(CLI::App& program);
Command register_mcp(CLI::App& program);
// For the scripts that make manual pages; not in the help.
Command register_describe(CLI::App& program);
Command register_check(CLI::App& program);
Command register_view(CLI::App& program);
Command register_top(CLI::App& program);

// All of them, and the commands of doors, in the order of the help.
std::vector<Command> register_commands(CLI::App& program);

}  // namespace timeloom::tools
