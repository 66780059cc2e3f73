// Runs the user's program as python itself would run it. Main thread, with the GIL.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "python/interpreter/compat.hpp"
#include "python/launch/main_module.hpp"

namespace timeloom::python {

// How the program ended, as far as we still have to do something about it.
enum class Outcome : std::uint8_t {
  kNormal,
  kFailed,  // its exception has been printed
  kExit,    // SystemExit is set
};

// Completes `program`; throws Error if it cannot be run. `file` gets the open script.
// `no_such_word`: as in Door.
void open_program(Program& program, std::string_view no_such_word, std::FILE*& file);

// Imports what python imports to run the program, which is not the program's doing. False with
// a Python exception set.
bool prepare_command(const Program& program);

// REQUIRES: an opened program and a prepared interpreter. Closes `file`.
Outcome run_program(const Program& program, std::FILE* file);

// The return value of the launcher, with which python goes on as after a program of its own.
PyObject* pass_on(Outcome outcome);

}  // namespace timeloom::python
