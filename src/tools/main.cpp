// The `timeloom` program: finds the subcommand, runs it, and turns what goes
// wrong into one line and an exit status.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text/shell_word.hpp"
#include "settings/meant_command.hpp"
#include "tools/commands.hpp"
#include "tools/door_tools.hpp"
#include "tools/run/open_run.hpp"
#include "tools/start/started_program.hpp"
#include "tools/text/output.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {

namespace {

constexpr char kExitStatuses[] =
    "Exit status: 0 done, 1 something could not be read or done, 2 wrong usage.";

void set_up(CLI::App& program) {
  program.set_help_flag("-h,--help", "Print this help");
  program.set_version_flag("-V,--version", "timeloom " TIMELOOM_VERSION, "Print the version");
  program.require_subcommand(1);
  program.get_formatter()->column_width(24);
  program.get_formatter()->label("SUBCOMMAND", "COMMAND");
  program.get_formatter()->label("Subcommands", "Commands");
  program.get_formatter()->label("OPTIONS", "OPTIONS");
}

// One line, whatever the parser's message is.
int wrong_usage(const CLI::App& program, std::string what) {
  std::string command = "timeloom";
  for (const CLI::App* app : program.get_subcommands()) command += " " + app->get_name();
  while (!what.empty() && what.back() == '\n') what.pop_back();
  print_line(what + "; see '" + command + " --help' [TL401]");
  return kWrongUsage;
}

// An option of the interpreter that names its program, which `timeloom run` has as well.
bool is_option_of_python(std::string_view word) { return word == "-m" || word == "-c"; }

bool is_command(const std::vector<Command>& commands, const std::string& word) {
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& one) { return one.app->get_name() == word; });
}

// A program in the place of a command: app.py, python app.py, -m app.
int no_such_command(const CLI::App& program, std::vector<std::string> words) {
  const std::string what = "there is no command '" + words.front() + "'";
  const bool python = is_python_name(words.front()) && words.size() > 1;
  const bool option = is_option_of_python(words.front());
  if (!python && !option && !words.front().ends_with(".py")) return wrong_usage(program, what);
  if (python) words.erase(words.begin());
  std::string line = what + "; write: timeloom run";
  for (const std::string& word : words) line += " " + shell_word(word);
  print_line(line + " [TL402]");
  return kWrongUsage;
}

// The words of the command line. `timeloom diff A... -- B...` has its later runs behind `--`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool diff = !words.empty() && words.front() == "diff";
  const auto end = diff ? std::find(words.begin(), words.end(), "--") : words.end();
  if (end == words.end()) return words;
  for (auto word = end + 1; word != words.end(); ++word) *word = "--after=" + *word;
  words.erase(end);
  return words;
}

int run_chosen(CLI::App& program, const std::vector<Command>& commands, int argc, char** argv) {
  for (const Command& command : commands) {
    if (argc > 1 && command.run_words && command.app->get_name() == argv[1]) {
      return command.run_words({argv + 2, argv + argc});
    }
  }
  const bool option = argc > 1 && argv[1][0] == '-' && !(argc > 2 && is_option_of_python(argv[1]));
  if (argc > 1 && !option && !is_command(commands, argv[1])) {
    return no_such_command(program, {argv + 1, argv + argc});
  }
  try {
    std::vector<std::string> words = words_of(argc, argv);
    std::reverse(words.begin(), words.end());  // as parse() takes them
    program.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return print(program.help());
  } catch (const CLI::CallForAllHelp&) {
    return print(program.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::RequiredError&) {
    if (!program.get_subcommands().empty()) return wrong_usage(program, "RUN is missing");
    return wrong_usage(program, argc > 1 ? "unknown option '" + std::string(argv[1]) + "'"
                                         : "a command is missing");
  } catch (const CLI::ParseError& error) {
    return wrong_usage(program, error.what());
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kWrongUsage;
}

}  // namespace

int run_timeloom(int argc, char** argv) {
  CLI::App program("Shows where Python programs spend their time.", "timeloom");
  set_up(program);
  const std::vector<Command> commands = register_commands(program);
  program.footer(kExitStatuses);
  for (const Command& command : commands) {
    if (command.app->get_footer().empty()) command.app->footer(kExitStatuses);
  }
  return run_chosen(program, commands, argc, argv);
}

}  // namespace timeloom::tools

int main(int argc, char** argv) {
  timeloom::tools::survive_file_limit();
  try {
    timeloom::tools::set_door_tools(timeloom::tools::all_doors());
    return timeloom::tools::run_timeloom(argc, argv);
  } catch (const timeloom::tools::WrongUsage& error) {
    timeloom::tools::print_line(error.what());
    return timeloom::tools::kWrongUsage;
  } catch (const timeloom::Error& error) {
    timeloom::tools::print_line(error.what());
  } catch (const std::bad_alloc&) {
    timeloom::tools::print_line("not enough memory for this run [TL403]");
  } catch (const std::exception& error) {
    timeloom::tools::print_line(error.what());
  }
  return timeloom::tools::kFailed;
}
