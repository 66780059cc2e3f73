// What timeloom.Measurement calls: measuring a block of a program that was
// started plainly. Needs the GIL.
//
//   start_block(settings, program) -> None
//       settings: as read_settings() makes them; program: names the run.
//   finish_block() -> dict | None
//       Finishes, weaves if the settings say so, and returns the totals; None
//       when no measurement of this process is running. `woven` tells whether
//       the trace is there.
// Both raise timeloom.Error.
#pragma once

#include "python/compat.hpp"

namespace timeloom::python {

extern PyMethodDef kBlockMethods[];  // ends with a null entry

}  // namespace timeloom::python
