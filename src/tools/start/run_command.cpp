// `timeloom run`: becomes Python with the package timeloom as its program, in the Python that has
// it; with --program it starts a program without Python (run_native.hpp).

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "core/native_run.hpp"
#include "core/text/message_id.hpp"
#include "settings/command_line.hpp"
#include "settings/settings_text.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/open_run.hpp"
#include "tools/start/find_python.hpp"
#include "tools/start/run_native.hpp"
#include "tools/start/start_python.hpp"
#include "tools/text/output.hpp"

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
  // With -m python would look in the current directory first, where anything may lie. -P, which
  // prevents that, is for a Python that could not even be asked: its program would see it.
  if (python.package.empty()) {
    append(words, {"-P", "-m", "timeloom"});
  } else {
    words.push_back(python.package + "/__main__.py");
  }
  append(words, option_words(line));
  append(words, program_words(line));
  return words;
}

// The path of a Python that measures nothing, and on a second line the reason, from
// python/timeloom/_unmeasured.py.
constexpr char kUnmeasuredVariable[] = "TIMELOOM_UNMEASURED";

// Becomes the program as plain `python` runs it.
[[noreturn]] void run_unmeasured(const CommandLine& line, const std::string& python_and_reason) {
  const std::size_t end = python_and_reason.find('\n');
  print_line("nothing is measured: " + std::string(without_id(python_and_reason.substr(end + 1))) +
             " [TL019]");
  unsetenv(kUnmeasuredVariable);
  std::vector<std::string> words = {python_and_reason.substr(0, end)};
  append(words, line.interpreter_flags);
  append(words, program_words(line));
  become(words);
}

[[noreturn]] void run(const CommandLine& line) {
  if (line.kind == ProgramKind::kNone) {
    throw Error(
        "no program given; write: timeloom run script.py, or see timeloom run --help [TL426]");
  }
  if (const char* unmeasured = std::getenv(kUnmeasuredVariable)) run_unmeasured(line, unmeasured);
  PythonChoice python = find_python(own_executable());
  if (python.package.empty()) {
    // With -S it would not look where packages are installed.
    python.package = ask_for_package(
        python.program, skips_site(line) ? std::vector<std::string>() : line.interpreter_flags);
  }
  std::vector<std::string> words = python_words(line, python);
  unsetenv(kNativeSettingsVariable);  // of a run around this one
  unsetenv(kNativeSpoolsVariable);
  unsetenv(kNativeFilterVariable);
  become(words);
}

// An error here is one of the command line or the environment: the program has
// not been started.
int run_or_refuse(const std::vector<std::string>& arguments) {
  CommandLine line;
  try {
    line = parse_command_line(arguments, InterpreterFlags::kTake);
    if (line.kind == ProgramKind::kNative) return run_native(line);
    if (!line.help && !line.version) run(line);
  } catch (const Error& error) {
    print_line(error.what());
    return kWrongUsage;
  }
  return print(line.help ? run_help(line.help_detail) : "timeloom " TIMELOOM_VERSION "\n");
}

}  // namespace

Command register_run(CLI::App& program) {
  const CommandOptions known(program, "run", "Run a Python program and record where its time goes");
  return {known.app(), [] { return run_or_refuse({}); }, run_or_refuse};
}

}  // namespace timeloom::tools
