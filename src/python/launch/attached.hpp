// The process that `timeloom attach` records: what runs in it. python/timeloom/_attached.py calls
// this, in a script that the attaching command has made its main thread run.
//
//   begin_attached(run, descriptor, seconds, innermost) -> None
//       Begins to record into the directory `run`, whose spool/settings the attaching command has
//       written. `descriptor`: a connection to that command, taken unless an exception is raised;
//       `seconds`: after as long recording ends (0: not by itself); `innermost`: the innermost
//       frame of the program on this thread, or None. Raises Error with the reason where nothing
//       begins.
//
// Recording ends when the command writes to the connection or is gone, after `seconds`, or when
// the process ends, whichever is first; on a thread of ours, so that the main thread may be busy in
// C. The answer is two lines: "recording" at the start, and at the end the counts, see
// answer_text().
#pragma once

#include <string>

#include "python/interpreter/compat.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {

// The counts of a session in one line, without run, instrumenter and window, and back. A line may
// come from anybody: false for one that is none.
std::string answer_text(const SessionResult& result);
bool read_answer(const std::string& text, SessionResult& result);

// Around a fork of this process.
void pause_attached() noexcept;
void resume_attached() noexcept;

extern PyMethodDef kAttachedMethods[];  // ends with a null entry

}  // namespace timeloom::python
