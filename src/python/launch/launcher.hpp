// Functions for the launchers of python/: from the words of the user to the end of the program.
//
// The functions belong to the module timeloom._core, need the GIL and run on the main thread.
// In all of them `pyproject` is None or (path, table), and `brought` names the modules that
// were imported on the way here and that python alone would not have.
//
//   run_command_line(words, pyproject, brought) -> None
//       The door timeloom. `words`: the words after `python -m timeloom`. Ends with SystemExit
//       after --help and --version, and for wrong usage (status 2, one line on stderr).
//   run_program(door, values, pyproject, program, brought, before=None) -> None
//       A door whose command line has been read already. `door`: its name; `values`: a dict of the
//       settings that its options are other names of; `program`: (kind, target, arguments), kind
//       one of file, module, command, stdin; `before`: called in the place of the program, before
//       it. Ends like run_command_line() for wrong usage, with the status of the door.
//   Both start the measurement and run the program; at exit the run is finished and woven, and the
//   summary is printed.
//   begin_run(door, values, pyproject, program) -> bool
//       Starts the measurement in a program that runs already, from here on: False where its
//       process is measured already, or cannot be. Everything is finished at exit. Raises Error for
//       wrong settings.
//   change_run(values) -> None
//       Other settings of filters and names for the running measurement, for calls from here on.
//   load_wrappers(values) -> None
//       Loads the wrapper libraries that settings ask for, and no others, by beginning the process
//       again: does not return then. For a program that is about to begin. Raises Error for wrong
//       settings.
//   wrappers() -> dict
//       The settings that ask for wrapper libraries, and whether each is loaded.
//   settings_page() -> str
//       The text of docs/settings.md.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

extern PyMethodDef kLauncherMethods[];  // ends with a null entry

}  // namespace timeloom::python
