// The functions behind timeloom.Measurement, which measures a block of a program that was
// started without Timeloom. All need the GIL.
//
//   start_block(values, pyproject, program) -> None | dict
//       `values`: a dict of settings, which override all other sources; `pyproject`: None or
//       (path, table); `program`: the name in the run's directory. If `timeloom run` already
//       measures this program, nothing is started, and the result is so_far().
//   output_of_block(values, pyproject) -> str
//       Reads and checks the settings like start_block(), without starting. Returns the setting
//       output, or an empty text.
//   so_far() -> dict | None
//       The totals of the current measurement, as far as they are known.
//   finish_block() -> dict | None
//       Finishes the measurement, weaves it if the settings require it, and returns the totals.
//       None if no measurement of this process is running. `woven` is true if the trace exists.
// All raise timeloom.Error.
#pragma once

#include "python/interpreter/compat.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {

// The totals of a measurement as a new dict; null with an exception set.
PyObject* totals_dict(const SessionResult& result);

extern PyMethodDef kBlockMethods[];  // ends with a null entry

}  // namespace timeloom::python
