#include "settings/command_line.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"

namespace timeloom {
namespace {

// The options that python takes before the program, less those that end it (-V, -h).
constexpr std::string_view kPlainFlags = "bBdEiIOPqRsSuvx";
constexpr std::string_view kValueFlags = "WX";

// Letters of one word stay together as they were written.
void add_flag(const OptionWords& words, CommandLine& line) {
  std::vector<std::string>& flags = line.interpreter_flags;
  if (words.opens_word || flags.empty()) {
    flags.push_back(words.name);
  } else {
    flags.back() += words.name.substr(1);
  }
  for (const std::string& value : words.values) {
    if (words.attached) {
      flags.back() += value;
    } else {
      flags.push_back(value);
    }
  }
}

void set_program(ProgramKind kind, const std::string& target, std::span<const std::string> rest,
                 CommandLine& line) {
  line.kind = kind;
  line.target = target;
  line.arguments = {rest.begin(), rest.end()};
}

void take_option(const OptionWords& words, std::span<const std::string> rest, CommandLine& line) {
  const Option& option = *words.option;
  if (option.of_python) {
    add_flag(words, line);
  } else if (option.program != ProgramKind::kNone) {
    set_program(option.program, words.values.front(), rest, line);
  } else if (option.setting != nullptr) {
    const std::string value =
        words.values.empty() ? std::string(option.meant) : words.values.front();
    Settings().set(*option.setting, value, words.name);  // refuse what is wrong at once
    line.options.emplace_back(option.setting, value);
  } else {
    line.help = line.help || option.name() == "--help";
    if (line.help && !rest.empty() && rest.front() == "all") line.help_detail = HelpDetail::kAll;
    line.version = line.version || option.name() == "--version";
    line.own.push_back(words);
  }
}

void take_program(std::span<const std::string> words, CommandLine& line) {
  line.marked = !words.empty() && words.front() == "--";
  if (line.marked) words = words.subspan(1);
  if (words.empty()) return;
  if (words.front().empty()) throw Error("the name of the script is empty [TL110]");
  set_program(words.front() == "-" ? ProgramKind::kStdin : ProgramKind::kFile, words.front(),
              words.subspan(1), line);
}

void refuse_flags(const CommandLine& line) {
  if (line.interpreter_flags.empty()) return;
  std::string flags;
  for (const std::string& flag : line.interpreter_flags) flags += " " + flag;
  throw Error(line.interpreter_flags.front() + " is a flag of the interpreter; write: python" +
              flags + " -m timeloom ... [TL111]");
}

OptionTable made_setting_options() {
  OptionTable table;
  for (const Setting& setting : all_settings()) {
    const std::string name(setting.name);
    Option option{
        .names = {"--" + name}, .wanted = std::string(setting.meaning), .setting = &setting};
    if (setting.short_name != 0) {
      option.names.insert(option.names.begin(), std::string{'-', setting.short_name});
    }
    const bool is_switch = setting.type == SettingType::kBool;
    option.least = is_switch ? 0 : 1;
    option.most = 1;
    option.joined = is_switch;
    option.meant = "on";
    table.push_back(std::move(option));
    if (is_switch)
      table.push_back({.names = {"--no-" + name}, .setting = &setting, .meant = "off"});
  }
  return table;
}

Option program_option(std::vector<std::string> names, const char* wanted, ProgramKind kind) {
  return {.names = std::move(names), .wanted = wanted, .least = 1, .most = 1, .program = kind};
}

OptionTable made_interpreter_options() {
  OptionTable table;
  for (const char letter : kPlainFlags) {
    table.push_back({.names = {std::string{'-', letter}}, .of_python = true});
  }
  const auto add = [&](std::string name, const char* wanted) {
    table.push_back(
        {.names = {std::move(name)}, .wanted = wanted, .least = 1, .most = 1, .of_python = true});
  };
  for (const char letter : kValueFlags) add({'-', letter}, "see python --help");
  add("--check-hash-based-pycs", "always, default or never");
  return table;
}

}  // namespace

const OptionTable& setting_options() {
  static const OptionTable table = made_setting_options();
  return table;
}

const OptionTable& module_options() {
  static const OptionTable table = {
      program_option({"-m"}, "the name of a module", ProgramKind::kModule),
      program_option({"-c"}, "the code to run", ProgramKind::kCommand)};
  return table;
}

const OptionTable& interpreter_options() {
  static const OptionTable table = made_interpreter_options();
  return table;
}

const OptionTable& run_options() {
  static const OptionTable table = {
      program_option({"--program"}, "the program to run, and its arguments", ProgramKind::kNative),
      {.names = {"-h", "-?", "--help"}},
      {.names = {"-V", "--version"}}};
  return table;
}

CommandLine parse_command_line(std::span<const std::string> arguments,
                               const OptionGrammar& grammar) {
  CommandLine line;
  OptionReader reader(grammar, arguments);
  while (line.kind == ProgramKind::kNone && !line.help && !line.version) {
    const std::optional<OptionWords> words = reader.next();
    if (!words) {
      take_program(reader.rest(), line);
      break;
    }
    take_option(*words, reader.rest(), line);
  }
  return line;
}

CommandLine parse_command_line(std::span<const std::string> arguments, InterpreterFlags flags) {
  const OptionGrammar grammar{
      {&setting_options(), &module_options(), &interpreter_options(), &run_options()},
      "timeloom run --help"};
  CommandLine line = parse_command_line(arguments, grammar);
  if (flags == InterpreterFlags::kTake) return line;
  refuse_flags(line);
  if (line.kind == ProgramKind::kNative) {
    throw Error("--program starts a program without Python; write: timeloom run --program " +
                line.target + " [TL112]");
  }
  return line;
}

std::vector<std::string> option_words(const CommandLine& line) {
  std::vector<std::string> words;
  for (const auto& [setting, value] : line.options) {
    words.push_back("--" + std::string(setting->name) + "=" + value);
  }
  return words;
}

std::vector<std::string> program_words(const CommandLine& line) {
  std::vector<std::string> words;
  switch (line.kind) {
    case ProgramKind::kNone: return words;
    case ProgramKind::kModule: words.push_back("-m"); break;
    case ProgramKind::kCommand: words.push_back("-c"); break;
    case ProgramKind::kNative: words.push_back("--program"); break;
    case ProgramKind::kFile:
      if (line.target.starts_with('-')) {
        words.push_back("--");
      }
      break;
    case ProgramKind::kStdin: break;
  }
  words.push_back(line.target);
  words.insert(words.end(), line.arguments.begin(), line.arguments.end());
  return words;
}

void apply(const CommandLine& line, Settings& settings) {
  for (const auto& [setting, value] : line.options) {
    settings.set(*setting, value, "--" + std::string(setting->name));
  }
}

InterpreterStart split_interpreter_start(std::span<const std::string> arguments) try {
  CommandLine line =
      parse_command_line(arguments, OptionGrammar{{&interpreter_options(), &module_options()}, {}});
  std::vector<std::string> program = program_words(line);
  if (!program.empty() && program.front() == "--") program.erase(program.begin());
  return {std::move(line.interpreter_flags), std::move(program)};
} catch (const Error&) {  // flags that are younger than we are
  return {{}, {arguments.begin(), arguments.end()}};
}

}  // namespace timeloom
