// `timeloom run`: becomes `python -m timeloom`, in the Python that has Timeloom.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/command_line.hpp"
#include "core/error.hpp"
#include "core/settings_text.hpp"
#include "tools/commands.hpp"
#include "tools/find_python.hpp"
#include "tools/open_run.hpp"
#include "tools/output.hpp"

namespace timeloom::tools {

namespace {

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// -S, alone or among others (-SE), but not in a value (-WS).
bool skips_site(const CommandLine& line) {
  return std::ranges::any_of(line.interpreter_flags, [](const std::string& word) {
    const std::string letters = word.substr(0, word.find_first_of("WX"));
    return letters.starts_with('-') && letters.find('S') != std::string::npos;
  });
}

std::vector<std::string> python_words(const CommandLine& line, const PythonChoice& python) {
  std::vector<std::string> words = {python.program};
  append(words, line.interpreter_flags);
  // With -S python does not look where packages are installed, but it can be
  // given the path of one.
  if (skips_site(line) && !python.package.empty()) {
    words.push_back(python.package);
  } else {
    append(words, {"-m", "timeloom"});
  }
  append(words, option_words(line));
  append(words, program_words(line));
  return words;
}

[[noreturn]] void become(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  throw Error("cannot start " + words[0] + ": " + std::strerror(errno));
}

int print(const std::string& text) {
  Output output;
  output.write(text);
  output.flush();
  return kDone;
}

[[noreturn]] void run(const CommandLine& line) {
  if (line.kind == ProgramKind::kNone) {
    throw Error("no program given; write: timeloom run script.py, or see timeloom run --help");
  }
  std::vector<std::string> words = python_words(line, find_python(own_executable()));
  become(words);
}

// What is wrong here is the command line or the environment: the program has
// not been started.
int run_or_refuse(const std::vector<std::string>& arguments) {
  CommandLine line;
  try {
    line = parse_command_line(arguments, InterpreterFlags::kTake);
    if (!line.help && !line.version) run(line);
  } catch (const Error& error) {
    say(error.what());
    return kWrongUsage;
  }
  return print(line.help ? run_help() : "timeloom " TIMELOOM_VERSION "\n");
}

}  // namespace

Command register_run(CLI::App& program) {
  CLI::App* app = program.add_subcommand("run", "Run a Python program and record what it does");
  return {app, [] { return run_or_refuse({}); }, run_or_refuse};
}

}  // namespace timeloom::tools
