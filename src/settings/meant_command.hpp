// Finds the command that the user meant, if the word in place of the program is not something that
// Python can run: an interpreter, a launcher, a shell script, a compiled program, a whole command
// in one word.
//
// Functions for any thread; they read the first bytes of the file and throw nothing but
// std::bad_alloc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

// The words with which the user has started Timeloom.
struct DoorWords {
  std::vector<std::string> command;  // "timeloom run", "python -m scorep"
  std::vector<std::string> options;  // the options that follow it
  std::string module;                // the module with which `python -m` starts the same door
};

// Whether a word is the name or the path of a Python interpreter: python3, .venv/bin/python3.13t.
bool is_python_name(std::string_view word);

// The reason and the command to type, in one line; empty: Python's own message will do, if the
// command is wrong at all.
std::string meant_command(const DoorWords& door, const std::string& target,
                          std::span<const std::string> arguments);

}  // namespace timeloom
