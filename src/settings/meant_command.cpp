#include "settings/meant_command.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>

#include "core/executable.hpp"
#include "core/text/joined.hpp"
#include "core/text/shell_word.hpp"
#include "settings/command_line.hpp"

namespace timeloom {
namespace {

namespace fs = std::filesystem;
using CommandWords = std::vector<std::string>;

// Interpreters in a `#!` line that are not Python. Others may start Python: uv, pipx, sage.
constexpr std::array<std::string_view, 18> kInterpreters = {
    "sh",   "bash", "dash",    "zsh",   "ksh", "csh", "tcsh", "fish",  "perl",
    "ruby", "node", "Rscript", "julia", "lua", "awk", "make", "tclsh", "php"};

// Programs that start the script among their words, by its `#!` line or by a Python of their own.
constexpr std::array<std::string_view, 22> kScriptLaunchers = {
    "mpirun",  "mpiexec", "orterun", "prterun", "srun",       "aprun",   "jsrun", "flux",
    "uv",      "pdm",     "poetry",  "pipenv",  "hatch",      "pixi",    "conda", "mamba",
    "numactl", "taskset", "nice",    "timeout", "micromamba", "xvfb-run"};

void append(CommandWords& words, std::span<const std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string_view name_of_file(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string shell_line(const CommandWords& words) { return joined(words, " ", shell_word); }

// The first bytes of a regular file.
std::string head_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return {};
  std::array<char, 512> bytes;
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return {bytes.data(), size};
}

// The first word of the line from `at` on; sets `at` to its end.
std::string next_word(const std::string& line, std::size_t& at) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t", at), line.size());
  at = std::min(line.find_first_of(" \t", begin), line.size());
  return line.substr(begin, at - begin);
}

// "bash" in "#!/usr/bin/env bash"; empty: it may still be Python, since some files start with lines
// that a shell runs and Python takes for a string.
std::string other_interpreter(const std::string& path, const std::string& head) {
  if (!head.starts_with("#!") || path.ends_with(".py")) return {};
  const std::size_t end = std::min(head.find('\n'), head.size());
  if (end + 1 < head.size() && (head[end + 1] == '\'' || head[end + 1] == '"')) return {};
  const std::string line = head.substr(0, end);
  std::size_t at = 2;
  std::string name(name_of_file(next_word(line, at)));
  if (name == "env") name = next_word(line, at);
  return std::ranges::find(kInterpreters, name) != kInterpreters.end() ? name : std::string();
}

// `python flags app.py`, with our command in place of python.
CommandWords through_door(const DoorWords& door, const std::string& python,
                          const CommandWords& rest) {
  const InterpreterStart start = split_interpreter_start(rest);
  const bool takes_flags = door.command.front() == "timeloom";
  CommandWords words;
  if (python.find('/') != std::string::npos || (!start.flags.empty() && !takes_flags)) {
    words = {python};
    append(words, start.flags);
    append(words, CommandWords{"-m", door.module});
    append(words, door.options);
    append(words, start.program);
  } else {
    words = door.command;
    append(words, door.options);
    append(words, rest);
  }
  if (start.program.empty()) words.push_back("script.py");
  return words;
}

// `target arguments` of a launcher, with our command in front of the script in it.
CommandWords before_script(const DoorWords& door, const std::string& target,
                           std::span<const std::string> arguments) {
  const auto script =
      std::ranges::find_if(arguments, [](std::string_view word) { return word.ends_with(".py"); });
  const bool launcher =
      std::ranges::find(kScriptLaunchers, name_of_file(target)) != kScriptLaunchers.end();
  if (!launcher || script == arguments.end()) return {};
  CommandWords words = {target};
  words.insert(words.end(), arguments.begin(), script);
  append(words, door.command);
  append(words, door.options);
  words.insert(words.end(), script, arguments.end());
  return words;
}

// `target arguments`, with our command in place of the python in it; empty: there is no python.
CommandWords with_door(const DoorWords& door, const std::string& target,
                       std::span<const std::string> arguments) {
  const auto python = std::ranges::find_if(arguments, is_python_name);
  if (python == arguments.end()) return before_script(door, target, arguments);
  const CommandWords rest = through_door(door, *python, CommandWords(python + 1, arguments.end()));
  if (name_of_file(target) == "env" && python == arguments.begin()) return rest;
  CommandWords words = {target};
  words.insert(words.end(), arguments.begin(), python);
  append(words, rest);
  return words;
}

std::string text_of_python(const DoorWords& door, const std::string& target,
                           const CommandWords& rest) {
  return target + " is the interpreter, not a program for it; write: " +
         shell_line(through_door(door, target, rest));
}

CommandWords words_of(const std::string& line) {
  CommandWords words;
  for (std::size_t at = 0; at < line.size();) {
    if (std::string word = next_word(line, at); !word.empty()) words.push_back(std::move(word));
  }
  return words;
}

// Whether the first word of `target` is a file or Python: "app.py --flag", "python app.py".
std::string text_of_one_word(const DoorWords& door, const std::string& target,
                             std::span<const std::string> arguments) {
  std::error_code error;
  const std::string file = target.substr(0, target.find(' '));
  if (file.size() == target.size()) return {};
  if (is_python_name(file)) {
    CommandWords rest = words_of(target.substr(file.size()));
    append(rest, arguments);
    return "there is no file '" + target +
           "'; write: " + shell_line(through_door(door, file, rest));
  }
  if (!fs::exists(file, error)) return {};
  CommandWords words = door.command;
  append(words, door.options);
  std::string line = shell_line(words) + " " + target;
  for (const std::string& word : arguments) line += " " + shell_word(word);
  return "there is no file '" + target + "'; write: " + line;
}

std::string text_of_compiled(const DoorWords& door, const std::string& target,
                             std::span<const std::string> arguments) {
  const std::string what = target + " is a compiled program, not one of Python";
  if (door.module != "timeloom") return what;
  CommandWords words = {"timeloom", "run"};
  append(words, door.options);
  if (name_of_file(target) == "timeloom" && !arguments.empty() && arguments.front() == "run") {
    append(words, arguments.subspan(1));
    return target + " run is here already; write: " + shell_line(words);
  }
  append(words, CommandWords{"--program", target});
  append(words, arguments);
  return what + "; write: " + shell_line(words);
}

}  // namespace

bool is_python_name(std::string_view word) {
  std::string_view name = name_of_file(word);
  for (const std::string_view kind : {"python", "pypy"}) {
    if (!name.starts_with(kind)) continue;
    name.remove_prefix(kind.size());
    if (name.ends_with('t')) name.remove_suffix(1);
    return name.find_first_not_of("0123456789.") == std::string_view::npos;
  }
  return false;
}

std::string meant_command(const DoorWords& door, const std::string& target,
                          std::span<const std::string> arguments) {
  std::error_code error;
  const bool here = fs::is_directory(target, error)
                        ? fs::exists(fs::path(target) / "__main__.py", error)
                        : fs::exists(target, error);
  const bool named = target.find('/') == std::string::npos && !here;
  const std::string path = named ? find_executable(target) : target;
  const std::string head = head_of(path);
  const bool compiled = head.starts_with(
      "\x7f"
      "ELF");
  const std::string interpreter = other_interpreter(path, head);
  const bool missing = path.empty() || !fs::exists(path, error);
  if (!compiled && interpreter.empty() && !missing) return {};
  if (is_python_name(target)) {
    return text_of_python(door, target, CommandWords(arguments.begin(), arguments.end()));
  }
  const bool launcher = !missing || target.find_first_of("./") == std::string::npos;
  if (const CommandWords words = with_door(door, target, arguments); launcher && !words.empty()) {
    return target + " is not a program of Python; write: " + shell_line(words);
  }
  if (compiled) return text_of_compiled(door, target, arguments);
  if (missing) return text_of_one_word(door, target, arguments);
  return target + " is a script of " + interpreter + ", not of Python; write " +
         shell_line(door.command) + " in it, in the place of python";
}

}  // namespace timeloom
