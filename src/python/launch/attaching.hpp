// `timeloom attach`: the functions that python/timeloom/_attach.py calls in the process of the
// command, once each and in this order. Main thread, with the GIL; they raise timeloom.Error for
// mistakes that the user can mend.
//
//   read_attach_words(words) -> (process, seconds, within, dump, help)
//       Reads the command line: the process as it was written, the values of --for (0: none) and
//       --within, whether --dump and --help are there; the options of `timeloom run` are kept.
//   plan_attach(pyproject) -> None
//       Reads the settings of that command line.
//   make_attached_run(words, process, user) -> str
//       Makes the run directory, named after the program of the other process's command line unless
//       --output names it, with the settings for it in spool/settings; its path. `user`: of
//       the process, who gets the spool; -1: this one.
//   forget_attached_run() -> None
//       Removes it: nothing was recorded.
//   finish_attached_run(answer, seconds) -> None
//       Weaves the run and prints the summary. `answer`: see attached.hpp; empty: none came, and
//       `seconds` is the wall time.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

extern PyMethodDef kAttachingMethods[];  // ends with a null entry

}  // namespace timeloom::python
