// Finds the interpreter that `timeloom run` starts. Called by the main thread;
// reads the file system only; throws Error.
#pragma once

#include <string>

namespace timeloom::tools {

struct PythonChoice {
  std::string program;  // path to execute
  std::string package;  // directory of the Python package; empty: not known
  bool sure = false;    // it is known that Timeloom is installed there
};

// The environment in which this program is installed, if there is a Python with
// Timeloom; else TIMELOOM_PYTHON; else python3 on PATH. `executable` is the
// resolved path of this program.
PythonChoice find_python(const std::string& executable);

// The resolved path of the running program.
std::string own_executable();

}  // namespace timeloom::tools
