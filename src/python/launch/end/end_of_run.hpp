// The end of a measured program: finishes the measurement, weaves the run and prints the
// summary on stderr. Main thread, with the GIL.
#pragma once

#include <memory>
#include <string>

#include "python/interpreter/compat.hpp"
#include "python/launch/plan/layout_choice.hpp"
#include "python/session/session.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// Finishes the run at exit, after everything that the program registers and after its
// threads were joined. False with a Python exception set on failure.
bool finish_run_at_exit(const Settings& settings, std::shared_ptr<PlannedRun> planned);

// At the end one rank prints that the program has loaded no MPI library. `option`: as the user
// wrote it; empty: MPI was not requested.
void expect_mpi(const std::string& option);

// Finishes the run now; nothing is recorded afterwards. Does nothing without a run that is to be
// finished at exit, and in a child of its process.
void finish_run_now();
// Moves the finish of the run before the functions that were registered for the exit so far.
bool finish_run_earlier();

// Weaves a run that another process has recorded, and prints its summary. Where `result` has no
// events, the weave's counts are printed. REQUIRES: nothing is measured here.
void report_run_of_other(const Settings& settings, SessionResult result);

// As finish_run_at_exit() in a child of the measured process, whose measurement alone is finished.
bool finish_child_at_exit();

// Python ends itself by SIGINT when the program was ended by a KeyboardInterrupt,
// which it knows from the last code that it ran as a program. To be called if that happened: python
// then still knows it after the end of the run.
void end_by_interrupt();

}  // namespace timeloom::python
