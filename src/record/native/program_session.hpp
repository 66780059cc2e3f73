// The measurement of a program that `timeloom run --program` has started: begun when the
// library is loaded, ended when the process ends.
//
// The variable of core/native_run.hpp names the run. Every process that inherits it and loads
// the library records into a spool of its own, and so does every child that one forks. If
// measuring cannot begin, one line on standard error reports it and the program runs.
#pragma once

#include <string>

namespace timeloom::record {

// The path of the spool of this process, where its measurement began so and runs; else empty.
// Throws std::bad_alloc.
std::string program_spool();

// Ends the measurement that began so, if there is one: the process is about to begin a
// measurement itself. Called by one thread; does not throw.
void end_program_session() noexcept;

}  // namespace timeloom::record
