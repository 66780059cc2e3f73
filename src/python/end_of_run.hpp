// What happens when the measured program has ended: finish the measurement,
// weave the run, say on stderr what was recorded. Main thread, with the GIL.
#pragma once

#include <string>

#include "core/settings.hpp"
#include "python/compat.hpp"

namespace timeloom::python {

// Has finish_run() called at exit, after everything that the program registers
// and after its threads were joined. `core` is the module with finish(). False
// with a Python exception set on failure.
bool finish_run_at_exit(PyObject* core, const Settings& settings);

// The same in a child of the measured process: only finishes its measurement.
bool finish_child_at_exit();

// Python ends itself by SIGINT when the program was ended by a KeyboardInterrupt,
// which it knows from the last code that it ran as a program. To be called when
// that was so: sees to it that python still knows after the end of the run.
void end_by_interrupt();

}  // namespace timeloom::python
