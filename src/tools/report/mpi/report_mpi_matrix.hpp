// The messages between processes as lines of text: a table of numbers where the terminal has room,
// else the pairs with the most bytes, and below the numbers a picture of one shade a pair.
//
// A pure function, for any thread; throws std::bad_alloc only.
#pragma once

#include <string>
#include <vector>

#include "tools/report/mpi/report_mpi.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// The lines for the messages of a run; empty without messages. No line is wider than the terminal,
// except for pairs of processes with long names.
std::vector<std::string> matrix_lines(const MpiFacts& facts, const Terminal& terminal);

}  // namespace timeloom::tools
