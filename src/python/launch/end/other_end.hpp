// Ends of the measured program that finish nothing: os._exit, os.exec*, signals. A line on stderr
// names the run, since no summary does. Main thread, with the GIL; any thread may print the line.
#pragma once

#include <string>

namespace timeloom::python {

// From now on this process prints one line when it ends in such a way: how it ends, and `next`. It
// prints nothing if descriptor 2 has become a file of the program.
void print_at_other_ends(const std::string& next);

}  // namespace timeloom::python
