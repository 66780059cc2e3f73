// The functions behind timeloom.Measurement, which measures a block of a program that was
// started without Timeloom. Needs the GIL.
//
//   start_block(values, pyproject, program) -> None | dict
//       `values`: a dict of settings, which go over all other sources; `pyproject`: None or
//       (path, table); `program`: names the run. Where `timeloom run` measures this program
//       anyway, nothing is started, and what so_far() says is returned.
//   output_of_block(values, pyproject) -> str
//       Reads and checks the settings as that does, and starts nothing: the setting output, or
//       empty.
//   so_far() -> dict | None
//       The totals of the measurement that is running, as far as they are known.
//   finish_block() -> dict | None
//       Finishes, weaves if the settings say so, and returns the totals; None
//       when no measurement of this process is running. `woven` tells whether
//       the trace is there.
// All raise timeloom.Error.
#pragma once

#include "python/interpreter/compat.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {

// The totals of a measurement as a new dict; null with an exception set.
PyObject* totals_dict(const SessionResult& result);

extern PyMethodDef kBlockMethods[];  // ends with a null entry

}  // namespace timeloom::python
