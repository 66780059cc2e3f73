// Runs the user's program as python itself would run it, and what the launcher
// (python/timeloom/_launch.py) needs for that.
//
// The functions belong to the module timeloom._core, which must also have
// start(settings) and finish(): these are called by name. All need the GIL and
// run on the main thread.
//
//   parse_command_line(words, pyproject) -> (settings, program)
//       words: what follows `python -m timeloom`; pyproject: None or
//       (path, table). Ends with SystemExit after --help, --version and wrong
//       usage (status 2, one line on stderr).
//       settings: a dict by the names of the registry with _ for -, e.g.
//       async_tasks: bool, c_functions: bool, buffer_size: int, instrumenter: str, output: str
//       ("": not given), include and exclude: list of str; and `filter`: a list of
//       (include: bool, pattern: str), the rules in the order that counts.
//       program: (kind, target, arguments), kind one of file, module, command, stdin.
//   read_settings(values, pyproject) -> settings
//       The same for a measurement that a program starts itself; `values` go over
//       everything else. Raises ValueError.
//   run_program(settings, program, brought, door="timeloom", refusal=2, before=None) -> None
//       Starts the measurement, runs the program, and sees to it that everything
//       is finished, woven and summed up at exit. `brought` names the modules that
//       were imported on the way here and that python alone would not have. `door`
//       is what our lines on stderr begin with, `refusal` the status of wrong usage;
//       `before` is called in the place of the program, before it.
//   settings_page() -> str
//       The text of docs/settings.md.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

extern PyMethodDef kLauncherMethods[];  // ends with a null entry

}  // namespace timeloom::python
