// Puts the interpreter into the state in which python would begin to run a
// program: a fresh __main__, sys.argv, sys.path, sys.modules without the
// modules that only the launcher needed. Needs the GIL; functions return false with a Python
// exception set.
#pragma once

#include <string>
#include <vector>

#include "python/interpreter/compat.hpp"
#include "python/launch/door.hpp"

namespace timeloom::python {

// The program on the command line of python -m timeloom.
struct Program {
  enum class Kind { kFile, kDirectory, kModule, kCommand, kStdin };
  Kind kind = Kind::kFile;
  std::string target;                  // as the user wrote it
  std::string path;                    // absolute; of kFile and kDirectory (also a zip file)
  std::vector<std::string> arguments;  // what follows the target
};

// `brought`: a sequence of names of modules to forget; `door`: the one by which python was started.
bool prepare_interpreter(const Program& program, PyObject* brought, const Door& door);

// The path as python makes it absolute: the current directory before it.
std::string absolute_path(const std::string& path);

// Where the Python package timeloom lies; empty if that is not known.
std::string package_directory();

// Whether sys.flags has this flag on.
bool interpreter_flag(const char* name);

// Whether `timeloom run` has started this python; `flags`: those that it was given.
bool started_by_timeloom_run(std::vector<std::string>& flags);

// True if python was started with -x (skip the first line of the script).
bool skips_first_line();

}  // namespace timeloom::python
