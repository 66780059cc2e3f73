// A command line with a program in it. `timeloom run` and `python -m timeloom` take
//
//   [interpreter flags] [options] script.py | -m module | -c code | - | directory | zip [arguments]
//   [options] --program ./prog [arguments]      (timeloom run only)
//
// Flags and options may be mixed; the program ends both. Other commands have other tables of
// options. Pure functions, for any thread; wrong usage throws Error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "settings/option_reader.hpp"
#include "settings/settings.hpp"
#include "settings/settings_text.hpp"

namespace timeloom {

struct CommandLine {
  std::vector<std::string> interpreter_flags;                   // words for python
  std::vector<std::pair<const Setting*, std::string>> options;  // in the order given
  std::vector<OptionWords> own;                                 // other options
  ProgramKind kind = ProgramKind::kNone;
  std::string target;                  // path, module name or code; "-" for kStdin
  std::vector<std::string> arguments;  // of the program
  bool marked = false;                 // -- is before the program
  bool help = false;
  HelpDetail help_detail = HelpDetail::kNames;  // kAll: --help all
  bool version = false;
};

// Flags of the interpreter are taken by `timeloom run`, which hands them on.
// Inside a running interpreter they come too late and are refused.
enum class InterpreterFlags : std::uint8_t { kTake, kRefuse };

CommandLine parse_command_line(std::span<const std::string> arguments, InterpreterFlags flags);
// The same with other tables. After --help and --version nothing is read.
CommandLine parse_command_line(std::span<const std::string> arguments,
                               const OptionGrammar& grammar);

// Tables that several commands have: options whose value is a setting, -m and -c, flags of the
// interpreter, --program, --help and --version.
const OptionTable& setting_options();
const OptionTable& module_options();
const OptionTable& interpreter_options();
const OptionTable& run_options();

// The options as the parser takes them, and the program as python takes it.
std::vector<std::string> option_words(const CommandLine& line);
std::vector<std::string> program_words(const CommandLine& line);

// Applies the options to the settings.
void apply(const CommandLine& line, Settings& settings);

// How python itself was started: its flags and what follows them, without
// argv[0]. Takes what python has accepted; never throws.
struct InterpreterStart {
  std::vector<std::string> flags;
  std::vector<std::string> program;  // beginning with -m, -c, - or a path
};
InterpreterStart split_interpreter_start(std::span<const std::string> arguments);

}  // namespace timeloom
