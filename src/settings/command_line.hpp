// The command line of `timeloom run` and `python -m timeloom`:
//
//   [interpreter flags] [options] script.py | -m module | -c code | - | directory | zip [arguments]
//   [options] --program ./prog [arguments]      (timeloom run only)
//
// Flags and options may be mixed; the name of the program ends both. Both commands parse with
// this code, so that they agree on every word. Pure functions, for any thread; wrong usage
// throws Error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "settings/settings.hpp"

namespace timeloom {

enum class ProgramKind : std::uint8_t { kNone, kFile, kModule, kCommand, kStdin, kNative };

struct CommandLine {
  std::vector<std::string> interpreter_flags;                   // words for python
  std::vector<std::pair<const Setting*, std::string>> options;  // in the order given
  ProgramKind kind = ProgramKind::kNone;
  std::string target;                  // path, module name or code; "-" for kStdin
  std::vector<std::string> arguments;  // of the program
  bool help = false;
  bool version = false;
};

// `timeloom run` accepts flags of the interpreter and hands them on. Inside a running
// interpreter they come too late and are refused.
enum class InterpreterFlags : std::uint8_t { kTake, kRefuse };

CommandLine parse_command_line(std::span<const std::string> arguments, InterpreterFlags flags);

// The options in words that the parser accepts, and the program in words that python accepts.
std::vector<std::string> option_words(const CommandLine& line);
std::vector<std::string> program_words(const CommandLine& line);

// Applies the options to the settings.
void apply(const CommandLine& line, Settings& settings);

// How python itself was started: its flags and the words after them, without argv[0]. The
// words must have been accepted by python; never throws.
struct InterpreterStart {
  std::vector<std::string> flags;
  std::vector<std::string> program;  // starts with -m, -c, - or a path
};
InterpreterStart split_interpreter_start(std::span<const std::string> arguments);

}  // namespace timeloom
