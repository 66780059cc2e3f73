// The words of the summary at the end of a measured program. Lines end with a newline and begin
// with the name of the door; an empty text stands for no line. Plain functions; throw
// std::bad_alloc and what reading the run throws.
#pragma once

#include <optional>
#include <string>

#include "python/launch/end/weave_process.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {

// A part of a line, ", beside 3 child processes": the other processes that have recorded into the
// run, which is not woven yet.
std::string others_in(const std::string& run, bool ranks);
// The lines about Python processes that the program has started, and sub-interpreters, that are
// not measured.
std::string unmeasured(const std::string& run);
// The line about functions that are not timed to the end; `woven`: with their visits.
std::string throttled(const SessionResult& result, const std::optional<WeaveResult>& woven);
// Replaces the counts of this process in the result by the counts of all processes. Returns a part
// of a line, " in 5 processes".
std::string count_all_processes(SessionResult& result, const WovenCounts& all);
// The losses of the run.
std::string losses(const SessionResult& result);

struct SummaryParts {
  std::string others;    // other processes, as above
  std::string left_out;  // lines
  std::string finding;   // the first one; empty: none
  std::string weaving;   // of the weave, without the name of the door; empty: all is well
  std::string run;       // as the user can write it
};
std::string summary(const SessionResult& result, const SummaryParts& parts);

}  // namespace timeloom::python
