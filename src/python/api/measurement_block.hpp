// What timeloom.Measurement calls: measuring a block of a program that was
// started plainly. Needs the GIL.
//
//   start_block(settings, program) -> None | dict
//       settings: as read_settings() makes them; program: names the run. Where
//       `timeloom run` measures this program anyway, nothing is started, and what
//       so_far() says is returned.
//   so_far() -> dict | None
//       The totals of the measurement that is running, as far as they are known.
//   finish_block() -> dict | None
//       Finishes, weaves if the settings say so, and returns the totals; None
//       when no measurement of this process is running. `woven` tells whether
//       the trace is there.
// Both raise timeloom.Error.
#pragma once

#include "python/interpreter/compat.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {

// The totals of a measurement as a new dict; null with an exception set.
PyObject* totals_dict(const SessionResult& result);

extern PyMethodDef kBlockMethods[];  // ends with a null entry

}  // namespace timeloom::python
