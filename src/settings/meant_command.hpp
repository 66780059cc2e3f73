// The command that was meant where the word in the place of the program is none that Python can
// run: an interpreter, a launcher, a script of a shell, a compiled program, a command in one word.
//
// Pure functions but for the first bytes of the file, for any thread; they throw nothing but what
// memory can.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

// The words by which the user has started us.
struct DoorWords {
  std::vector<std::string> command;  // "timeloom run", "python -m scorep"
  std::vector<std::string> options;  // behind it
  std::string module;                // by which `python -m` starts the same
};

// Whether a word is the name or the path of a Python interpreter: python3, .venv/bin/python3.13t.
bool is_python_name(std::string_view word);

// The reason and the command to write, in one line; empty: Python itself says what is wrong, if
// anything is.
std::string meant_command(const DoorWords& door, const std::string& target,
                          std::span<const std::string> arguments);

}  // namespace timeloom
